view_profile help list
