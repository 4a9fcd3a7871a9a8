view_profile top /no/such/path
