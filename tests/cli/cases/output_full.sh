view_profile --help > /dev/full
