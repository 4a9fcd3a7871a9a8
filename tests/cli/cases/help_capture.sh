view_profile capture --help
