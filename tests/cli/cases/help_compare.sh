view_profile compare --help
