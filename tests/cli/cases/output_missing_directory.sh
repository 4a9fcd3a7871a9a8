view_profile list -o no/such/x.txt "$TRACES/jax_cpu/three_runs"
