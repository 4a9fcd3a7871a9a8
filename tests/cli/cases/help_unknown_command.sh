view_profile help lst
