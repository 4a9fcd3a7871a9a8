# The old file stays and no temporary one.
trap '' XFSZ
echo old > r.html
(ulimit -f 1; view_profile report --format html -o r.html "$TRACES/jax_cpu/three_runs")
code=$?
cat r.html; ls
exit $code
