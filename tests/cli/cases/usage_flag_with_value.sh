view_profile --quiet=1
