view_profile top --top 3 --format csv "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles" 2026_01_11_21_26_41 | wc -l
