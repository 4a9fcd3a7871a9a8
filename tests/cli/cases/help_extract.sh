view_profile extract --help
