# All rows unless --top says less.
all=$(view_profile report --format csv "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles" | wc -l)
[ $all -gt 21 ] && echo more than 20
view_profile report --format csv --top 4 "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles" | wc -l
