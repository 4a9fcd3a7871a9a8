view_profile top "$TRACES/jax_cpu/three_runs" nothing
