# The good prefix is shown and the damage named.
zcat "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/2026_01_11_21_26_41/t1v-n-9eb622fc-w-0.trace.json.gz" | head -c 3000000 > cut.trace.json
view_profile top --format json cut.trace.json | jq -c '[.session.files[].partial, (.quality[] | select(.file) | .code)]' 
