view_profile --prot 9001
