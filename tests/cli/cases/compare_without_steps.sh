R="$TRACES/jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile"
COLUMNS=80 view_profile compare "$R/2026_01_11_21_26_41" "$R/2026_01_12_00_26_20" --max-regression 5%
