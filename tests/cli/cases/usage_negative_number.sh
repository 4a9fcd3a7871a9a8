view_profile top --top -3
