# A command of view_profile-live that is not the first word.
view_profile --color never trend no-such-report.json
