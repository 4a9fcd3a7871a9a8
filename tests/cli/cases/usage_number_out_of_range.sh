view_profile --port 70000
