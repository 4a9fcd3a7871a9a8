mkdir d && view_profile top --profile-dir d
