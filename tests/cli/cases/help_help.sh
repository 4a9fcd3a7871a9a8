view_profile help --help
