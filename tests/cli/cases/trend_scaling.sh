# 1, 2 and 4 devices: 8 s, 5 s, 4 s: speed-ups 1, 1.6, 2; efficiencies 100 %, 80 %, 50 %.
# The other method starts at 2 devices and fails on 4.
results() { printf '{"gpu_count":%d,"timestamp":"2026-01-11T21:26:41",%s}\n' "$1" "$2" > "profile_$1gpu_results.json"; }
results 1 '"unitary_grad_lcam":{"execution_time":8.0,"success":true,"tensorboard_trace":"logs/1gpu/lcam_trace"},"step_timing":{"lcam":8}'
results 2 '"unitary_grad_lcam":{"execution_time":5,"success":true,"first_call_s":6.25},"unitary_grad_tad":{"execution_time":2,"success":true}'
results 4 '"unitary_grad_lcam":{"execution_time":4,"success":true},"unitary_grad_tad":{"success":false,"error":"out of\u001b[31m memory","execution_time":0.5,"tensorboard_trace":"x"}'
COLUMNS=100 view_profile trend profile_4gpu_results.json profile_1gpu_results.json profile_2gpu_results.json
view_profile trend --format json profile_*gpu_results.json | jq -c '.schema, (.results[] | [.method, .devices, .success, .time_ps, .first_call_ps, .speed_up, .efficiency_percent, .error])'
