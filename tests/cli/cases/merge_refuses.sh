echo "{}" > a.json; view_profile merge a.json
view_profile top --quiet --format json "$TRACES/jax_cpu/three_runs" -o top.json; view_profile merge top.json
view_profile report --quiet --format json --top 3 "$TRACES/jax_cpu/three_runs" -o three.json; view_profile merge three.json
view_profile merge nowhere.json
view_profile merge .
view_profile merge
