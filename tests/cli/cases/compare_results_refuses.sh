echo '{"gpu_count":2,"m":{"execution_time":1,"success":true,"run_s":[1,1.01]}}' > a.json
try() { echo "== $*"; view_profile compare "$@" -o out; echo "exit $?"; }
try a.json "$TRACES/jax_cpu/mnist_train"
try "$TRACES/jax_cpu/mnist_train" a.json
try "$TRACES/jax_cpu/mnist_train"
try a.json
try a.json nowhere
try a.json a.json --append history.jsonl
try a.json a.json --fail-on high
try
echo '{"gpu_count":2,"m":{"execution_time":1' > cut.json; try a.json cut.json
# What a file claims: no time, a time beyond all, runs that are none, a name that is none of ours.
echo '{"gpu_count":2,"<b>\u001b[31m|`":{"execution_time":1e300,"success":true,"run_s":[1e300,-1,"x",null,{}]}}' > odd.json
COLUMNS=80 view_profile compare odd.json odd.json
view_profile compare odd.json odd.json --format md
view_profile compare odd.json odd.json --format html -o odd.html && ! grep -q "<b>..*|" odd.html
