view_profile compare --profile-dir "$TRACES/jax_cpu/three_runs" 06_34_02 06_34_00 --max-regression 5% --format json |
    jq -c ".schema, .per_step, .noise.verdict, (.step.delta_ps < 0), (.devices[] | .window.delta_ps == .compute.delta_ps + .exposed_comm.delta_ps + .exposed_copy.delta_ps + .idle.delta_ps)"
