results() { printf '{"gpu_count":%d,%s}\n' "$1" "$2" > "$3"; }
results 2 '"m":{"execution_time":1,"success":true,"run_s":[1,1.01,0.99]}' a.json
results 2 '"m":{"execution_time":1.5,"success":true,"run_s":[1.5,1.51,1.49]}' b.json
results 2 '"m":{"execution_time":0.1,"success":false,"error":"out of memory"}' failed.json
results 2 '"m":{"execution_time":9,"success":true}' once.json
results 2 '"other":{"execution_time":1,"success":true,"run_s":[1,1]}' other.json
try() { echo "== $*"; view_profile compare "$@" -o out; echo "exit $?"; }
try a.json b.json --max-regression 5%
try b.json a.json --max-regression 5%
try a.json b.json --max-regression 60%
try a.json b.json --max-p90-regression 40%
try a.json b.json --fail-on regression
try b.json a.json --fail-on regression
try a.json failed.json --max-regression 5%
try failed.json a.json --max-regression 5%
try a.json once.json --max-regression 5%
try a.json once.json --fail-on unverified
try a.json other.json --max-regression 5%
echo "== JUnit"
view_profile compare a.json b.json --max-regression 5% --format junit | grep -E "<testsuite |<testcase"
view_profile compare a.json once.json --max-regression 5% --format junit | grep -E "<testsuite |<testcase"
