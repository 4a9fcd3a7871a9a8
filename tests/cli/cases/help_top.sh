view_profile top --help
