view_profile list --format csv
