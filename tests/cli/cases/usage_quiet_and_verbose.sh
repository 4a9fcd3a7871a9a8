view_profile list -q -v
