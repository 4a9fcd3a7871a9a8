# The command is not the first word.
view_profile --color never trend no-such-report.json
