view_profile top --host other "$TRACES/jax_cpu/three_runs"
