# A limit that cannot be checked is no pass, unless that is allowed; a rule that no run can evaluate, neither.
R="$TRACES/jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile"
A="$R/2026_01_11_21_26_41" B="$R/2026_01_12_00_26_20"
try() { echo "== $*"; view_profile compare "$A" "$B" "$@" -o out; echo "exit $?"; }
try
try --max-regression 5%
try --max-p90-regression 5%
try --fail-on regression
try --fail-on unverified
try --fail-on F12
try --fail-on high
try --max-regression 5% --fail-on-peak 5% --allow-unverified
echo "== JUnit"
view_profile compare "$A" "$B" --max-regression 5% --format junit | grep -E "<testsuite |<testcase"
