# As a page: a section for every method, whatever it is called, and no way out of its text.
results() { printf '{"gpu_count":%d,"timestamp":"2026-01-11T21:26:41",%s}\n' "$1" "$2" > "profile_$1gpu_results.json"; }
results 1 '"unitary_grad_lcam":{"execution_time":8.0,"success":true,"tensorboard_trace":"logs/1gpu/<b>lcam"},"unitary_grad_<i>":{"execution_time":2,"success":true}'
results 2 '"unitary_grad_lcam":{"execution_time":5,"success":true,"first_call_s":6.25},"unitary_grad_<i>":{"success":false,"error":"out of memory","execution_time":0.5}'
view_profile trend --format html profile_*gpu_results.json -o t.html
! grep -qE "<script|style=|https?://|<i>|<b>lcam" t.html && grep -c "<section" t.html
python3 - <<'END'
import html, re
for row in re.findall(r"<tr[^>]*>(.*?)</tr>", open("t.html").read(), re.S):
    cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S)
    print(" | ".join(html.unescape(re.sub(r"<[^>]*>", "", c)).strip() for c in cells))
END
