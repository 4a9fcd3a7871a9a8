view_profile --port=90o1
