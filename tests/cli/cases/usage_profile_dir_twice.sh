view_profile --profile-dir a b
