view_profile top --format json "$TRACES/jax_cpu/three_runs" | jq -c '.session.name' 
