R="$TRACES/jax_cpu/three_runs/plugins/profile/2026_11_21_06_34_00"
view_profile compare "$R" "$R" --max-regression 0% --fail-on regression,F1 --format md
