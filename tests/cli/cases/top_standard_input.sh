view_profile top --top 3 --format json - < "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/2026_01_11_21_26_41/t1v-n-9eb622fc-w-0.trace.json.gz" |
    jq -c '.ops[] | [.name, .calls, .self_ps]' 
