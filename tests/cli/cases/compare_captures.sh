# Several captures a side: one that is given twice, one that is not there; and command lines that make no sense.
R="$TRACES/jax_cpu/three_runs/plugins/profile"
FAST="$R/2026_11_21_06_34_00" SLOW="$R/2026_11_21_06_34_02"
try() { echo "== $(printf '%s\n' "$@" | sed "s#$R/##" | xargs)"; COLUMNS=80 view_profile compare "$@" > out; echo "exit $?"; sed -n '/^A  /,/^$/p; /^Note/,$p' out; }
try --base "$FAST" --base "$FAST" --base nowhere --new "$SLOW" --max-regression 5%
try --base "$SLOW" --new "$FAST" --new "$SLOW" --max-regression 5%
try --base nowhere --base nothing --new "$SLOW"
try --base "$FAST"
try --new "$FAST"
try "$FAST" --base "$SLOW" --new "$SLOW"
try
