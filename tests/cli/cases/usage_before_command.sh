view_profile --format json list --format json
