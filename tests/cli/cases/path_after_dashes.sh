view_profile list -- --format
