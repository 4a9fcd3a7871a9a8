view_profile --help
