view_profile top --device TPU:7 "$TRACES/jax_cpu/three_runs"
