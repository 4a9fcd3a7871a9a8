view_profile trend --help
