view_profile top --format json --session 06_34_00 "$TRACES/jax_cpu/three_runs" | jq -c '.session.name'
view_profile top --format json "$TRACES/jax_cpu/three_runs" 06_34_00 | jq -c '.session.name'
view_profile top --format json --profile-dir "$TRACES/jax_cpu/three_runs" 06_34_00 | jq -c '.session.name' 
