#include "trace/report/words/wastes.h"

#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"

void rep_wastes(rep_waste out[REP_WASTES], const vp_hygiene *h)
{
    const rep_waste all[REP_WASTES] = {
        {"Formatting", "Transposes, copies, reshapes and bitcast-converts", h->formatting_ps},
        {"Remat", "Rematerialised work", h->remat_ps},
        {"Async waits", "Waits in -done ops", h->async_done_ps},
        {"Padding", "Category pad", h->padding_ps},
        {"Infeed", "Infeed and outfeed ops", h->infeed_ps},
        {"Callbacks", "Host callbacks as ops", h->callback_ps},
        {"Chains", "Five or more ops in a row below 5 µs", h->chain_ps},
    };
    for (size_t i = 0; i < REP_WASTES; i++)
        out[i] = all[i];
}

bool rep_used_wastes(bool used[REP_WASTES], const vp_report *r, const vp_view *v)
{
    bool any = false;
    for (size_t k = 0; k < REP_WASTES; k++)
        used[k] = false;
    for (size_t i = 0; i < r->device_count; i++) {
        rep_waste w[REP_WASTES];
        rep_wastes(w, &r->devices[i].hygiene);
        for (size_t k = 0; k < REP_WASTES && rep_device_matches(r, v, i); k++)
            any |= used[k] |= w[k].ps > 0;
    }
    return any;
}

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
                  " of op time, is of %lld op%s with the code of an equal one: equal layers, not "
                  "needless work.",
                  (long long)ops, ops == 1 ? "" : "s");
}
