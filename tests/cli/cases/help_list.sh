view_profile list --help
