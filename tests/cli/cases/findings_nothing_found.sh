mkdir empty
view_profile findings empty
