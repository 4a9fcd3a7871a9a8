#include "trace/report/labels/shared_code.h"

#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"

void rep_put_shared_code(vp_buf *b, const vp_report *r, const vp_view *v)
{
    int64_t ps = 0, ops = 0, all = 0;
    for (size_t i = 0; i < r->device_count; i++) {
        const vp_device *d = &r->devices[i];
        if (!rep_device_matches(r, v, i) || d->hygiene.duplicate_ps <= 0)
            continue;
        ps += d->hygiene.duplicate_ps;
        ops += d->hygiene.duplicate_ops;
        all += d->self_ps;
    }
    if (!ops)
        return;
    rep_duration(b, ps, v->unit, ps);
    vp_buf_puts(b, ", ");
    rep_put_percent(b, ps, all);
    vp_buf_printf(b,
                  " of op time, is in %lld op%s with the same code as another op: repeated layers, "
                  "not redundant work.",
                  (long long)ops, ops == 1 ? "" : "s");
}
