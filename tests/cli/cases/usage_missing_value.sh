view_profile --port
