view_profile report --help
