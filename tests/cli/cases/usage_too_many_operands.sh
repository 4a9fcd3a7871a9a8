view_profile a b
