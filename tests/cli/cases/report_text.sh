view_profile report --top 5 "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles" 2026_01_11_21_26_41
