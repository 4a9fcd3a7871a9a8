#include "server/routes/handoff/handoff_view.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/export/exporters.h"

static int take_view_range(ex_view *v, const char *at)
{
    uint64_t start, end;
    if (!at)
        return 0;
    vp_str s = vp_str_of(at);
    if (!vp_take_uint(&s, INT64_MAX, &start) || !vp_str_starts(s, VP_STR("..")))
        return vp_fail(VP_EARG, "\"at\" must be START..END in nanoseconds");
    s = vp_str_skip(s, 2);
    if (!vp_take_uint(&s, INT64_MAX, &end) || s.n || end <= start)
        return vp_fail(VP_EARG, "\"at\" must be START..END in nanoseconds, with END after START");
    v->start_ns = (int64_t)start;
    v->end_ns = (int64_t)end;
    v->is_event = true;
    return 0;
}

/* The window of a device in whole ns of its host's file, rounded inwards: a range outside of the
 * trace would not be shown. */
static bool window_of(int64_t *first, int64_t *last, const vp_device *d)
{
    int64_t up = d->start_ps / 1000 + (d->start_ps % 1000 > 0);
    int64_t down = d->end_ps / 1000 - (d->end_ps % 1000 < 0);
    return d->start_ps != VP_NO_TIME && d->end_ps != VP_NO_TIME &&
           !__builtin_add_overflow(up, d->timeline_ns, first) &&
           !__builtin_add_overflow(down, d->timeline_ns, last) && *first >= 0 && *last > *first;
}

static bool is_device_of_host(const vp_device *d, const vp_report *r, const cat_host *host)
{
    return r->host_count < 2 || (d->host && !strcmp(d->host, host->name));
}

/* From the first to the last op of the host's devices. */
static void take_devices(ex_view *v, const vp_report *r, const cat_host *host)
{
    int64_t first, last;
    for (size_t i = 0; r->has_devices && i < r->device_count; i++) {
        if (!is_device_of_host(&r->devices[i], r, host) ||
            !window_of(&first, &last, &r->devices[i]))
            continue;
        v->first_ns = v->first_ns < 0 || first < v->first_ns ? first : v->first_ns;
        v->last_ns = last > v->last_ns ? last : v->last_ns;
    }
}

int handoff_view(ex_view *v, const http_req *rq, const cat_session *s, const cat_host *host)
{
    VP_CLEANUP(store_release) store_report *h = NULL;
    const cat_file *f = host ? ex_half(EX_JSON, s, host) : NULL;
    *v = EX_VIEW_ALL;
    v->is_json = f && f->kind.format != RD_XSPACE && f->kind.format != RD_VPCAP;
    VP_TRY(take_view_range(v, http_query(rq, "at")));
    if (!host || !store_peek(&h, site_of(rq)->store, s, VP_GROUP_NAME))
        return 0;
    take_devices(v, store_report_of(h), host);
    if (v->end_ns < 0) {
        v->start_ns = v->first_ns;
        v->end_ns = v->last_ns;
    }
    return 0;
}
