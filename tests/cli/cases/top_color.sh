# Colours when asked for, none in a pipe.
view_profile top --color always "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles" | grep -c $'\e\[' | sed 's/[1-9][0-9]*/some/'
view_profile top "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles" | grep -c $'\e\['
exit 0
