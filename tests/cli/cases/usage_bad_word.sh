view_profile top --by slf
