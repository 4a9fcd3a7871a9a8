view_profile -x
