# A target that takes no more ends the work; nothing half-written stays.
trap '' XFSZ
(ulimit -f 100; view_profile extract --out o "$TRACES/jax_cpu/three_runs")
code=$?
find o -type f -size +100k -o -name '*tmp*'
exit $code
