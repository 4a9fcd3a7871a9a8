view_profile list --format json "$TRACES/jax_cpu/three_runs" |
    jq -c '.schema, (.sessions[] | [.name, .kind, .status, .hosts, (.files | length), (.bytes | type)])' 
