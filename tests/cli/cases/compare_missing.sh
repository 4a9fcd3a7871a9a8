view_profile compare /nowhere/a.json b.json
