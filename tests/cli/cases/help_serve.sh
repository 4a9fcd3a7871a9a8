view_profile serve --help
