# As vp_bench leaves them: a directory a number of devices; of two of one number the later counts.
results() { mkdir -p "$3" && printf '{"gpu_count":%d,"m":{"execution_time":%s,"success":true,"run_s":[%s,%s,%s]}}\n' "$1" "$2" "$2" "$2" "$2" > "$3/profile_$1gpu_results.json"; }
results 1 8 logs/1gpu_20260111_212641; results 2 9 logs/2gpu_20260111_212650; results 2 5 logs/2gpu_20260111_212650_1; results 10 1 logs/10gpu_20260111_212700
results 1 8 new/1gpu_20260112_212641; results 2 4 new/2gpu_20260112_212650
mkdir logs/4gpu_20260111_212655 logs/gpu_x; echo '{}' > logs/4gpu_20260111_212655/profile_4gpu_results.json
COLUMNS=100 view_profile trend logs
COLUMNS=100 view_profile compare logs new
echo "== one number of devices against another"
COLUMNS=100 view_profile compare logs/1gpu_20260111_212641 logs/10gpu_20260111_212700
