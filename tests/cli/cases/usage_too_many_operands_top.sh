view_profile top a b c
