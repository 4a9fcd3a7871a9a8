echo "{\"schema\":\"view_profile.history/1\",\"steps\":-1}" > bad.jsonl; view_profile trend bad.jsonl
printf "{\"schema\":\"view_profile.history/1\"}\n{\"a\":" > cut.jsonl; view_profile trend cut.jsonl
view_profile trend
