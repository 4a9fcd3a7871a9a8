# Two runs with both halves; newest first, from 1, KiB with one decimal.
view_profile --list-only --profile-dir "$TRACES/jax_cpu/three_runs"
