view_profile top --session a b c
