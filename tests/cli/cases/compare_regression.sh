COLUMNS=80 view_profile compare --profile-dir "$TRACES/jax_cpu/three_runs" 06_34_00 06_34_02 --max-regression 5%
