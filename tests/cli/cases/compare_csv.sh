view_profile compare --format csv --profile-dir "$TRACES/jax_cpu/three_runs" 06_34_00 06_34_02 | grep -v "differs\|within the noise"
