D="$TRACES/jax_cpu/three_runs"
view_profile compare --profile-dir "$D" 06_34_02 06_34_00 --append h.jsonl -o c.txt
view_profile trend h.jsonl --format json | jq -c ".schema, (.runs[0] | .per_step, .steps, .window_ps == .compute_ps + .exposed_comm_ps + .exposed_copy_ps + .idle_ps)"
jq -c ".schema" h.jsonl
