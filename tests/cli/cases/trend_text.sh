D="$TRACES/jax_cpu/three_runs"
view_profile compare --profile-dir "$D" 06_34_02 06_34_00 --append h.jsonl -o /dev/null
view_profile compare --profile-dir "$D" 06_34_00 06_34_02 --append h.jsonl -o /dev/null
COLUMNS=80 view_profile trend h.jsonl "$TRACES/jax_cpu/mnist_train"
