view_profile --port 1 --port 2
