view_profile watch --help
