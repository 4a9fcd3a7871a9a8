# compute + exposed communication + exposed copies + idle = window, for every device.
view_profile report --format json "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles" | jq -c '.schema, (.devices[] | .breakdown |
    .compute_ps + .exposed_comm_ps + .exposed_copy_ps + .idle_ps == .window_ps)' 
