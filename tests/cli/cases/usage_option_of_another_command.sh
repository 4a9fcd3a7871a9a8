view_profile top --port 1
