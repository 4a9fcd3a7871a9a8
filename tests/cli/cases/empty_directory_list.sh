mkdir d && view_profile list d
