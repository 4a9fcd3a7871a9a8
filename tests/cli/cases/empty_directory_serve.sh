mkdir d && view_profile --port 0 --no-browser d
