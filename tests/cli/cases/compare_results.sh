# A is twice as fast in one method, and the other differs by less than its runs do among themselves.
results() { printf '{"gpu_count":%d,"timestamp":"2026-01-11T21:26:41",%s}\n' "$1" "$2" > "$3"; }
lcam() { printf '"lcam":{"execution_time":%s,"success":true,"first_call_s":2.5,"warmup_s":3,"run_s":[%s],"export_s":0.25,"tensorboard_trace":"logs/lcam_trace"}' "$1" "$2"; }
tad() { printf '"tad":{"execution_time":%s,"success":true,"first_call_s":1,"warmup_s":1,"run_s":[%s]}' "$1" "$2"; }
results 4 "$(lcam 1 1.01,0.99,1),$(tad 2 2,2.1,1.9)" a.json
results 4 "$(lcam 2 2,2.01,1.99),$(tad 2.1 2,2.1,2.2)" b.json
COLUMNS=100 view_profile compare a.json b.json
echo "== swapped"
COLUMNS=60 view_profile compare b.json a.json
echo "== CSV"
view_profile compare a.json b.json --format csv
echo "== Markdown"
view_profile compare a.json b.json --format md
echo "== one file: its methods"
COLUMNS=100 view_profile compare b.json
