view_profile report --format json "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles" > /dev/full
