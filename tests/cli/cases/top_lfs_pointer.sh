view_profile top "$TRACES/lfs_pointer/pytorch__benchmark/traces/maml/train-cuda.pt.trace.json.gz"
