view_profile --bogus
