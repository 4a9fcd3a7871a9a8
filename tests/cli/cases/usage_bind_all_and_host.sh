view_profile --bind-all --host ::1
