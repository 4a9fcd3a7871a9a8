view_profile top --prof x
