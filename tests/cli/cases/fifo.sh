mkfifo f && view_profile list f
