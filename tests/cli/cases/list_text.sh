view_profile list "$TRACES/jax_cpu/three_runs"
