view_profile --list-only "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/2026_01_11_21_26_41/t1v-n-9eb622fc-w-0.trace.json.gz"
