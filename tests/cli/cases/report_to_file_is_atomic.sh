# A failed run leaves the old file and nothing else.
echo old > r.json
view_profile report --format json -o r.json "$TRACES/lfs_pointer/pytorch__benchmark/traces/maml/train-cuda.pt.trace.json.gz"
code=$?
cat r.json; ls
exit $code
