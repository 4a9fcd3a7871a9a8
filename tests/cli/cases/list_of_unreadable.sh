view_profile list "$TRACES/lfs_pointer/pytorch__benchmark/traces/maml/train-cuda.pt.trace.json.gz"
