view_profile top --top 3 --unit ns "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles" 2026_01_11_21_26_41
