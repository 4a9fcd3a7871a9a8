view_profile --ui=
