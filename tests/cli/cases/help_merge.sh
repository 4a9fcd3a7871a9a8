view_profile merge --help
