view_profile --list-only "$TRACES/jax_cpu/three_runs/plugins/profile/2026_11_21_06_34_02"
