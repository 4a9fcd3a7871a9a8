mkdir d && view_profile --list-only d
