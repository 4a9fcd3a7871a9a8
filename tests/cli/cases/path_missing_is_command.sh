view_profile lsit
