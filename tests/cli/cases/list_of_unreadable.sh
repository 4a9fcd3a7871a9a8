# A loose file is dated by its mtime, which differs from one copy of the traces to the next.
cp "$TRACES/lfs_pointer/pytorch__benchmark/traces/maml/train-cuda.pt.trace.json.gz" .
touch -d 2026-11-21T13:40:42Z train-cuda.pt.trace.json.gz
view_profile list train-cuda.pt.trace.json.gz
