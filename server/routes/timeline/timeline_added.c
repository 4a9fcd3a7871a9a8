#include "server/routes/timeline/timeline_added.h"

#include <string.h>

#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

static const vp_device *first_device_on_host(const vp_report *r, const char *host)
{
    for (size_t i = 0; i < r->device_count; i++)
        if (r->host_count < 2 || !host || !r->devices[i].host || !strcmp(host, r->devices[i].host))
            return &r->devices[i];
    return NULL;
}

int64_t timeline_time(const tl_index *x, const vp_report *r, const char *host, int64_t ps)
{
    const vp_device *d = first_device_on_host(r, host);
    int64_t shift;
    if (!d || ps == VP_NO_TIME ||
        __builtin_sub_overflow(d->timeline_ns, x->file_origin_ns, &shift) ||
        __builtin_mul_overflow(shift, 1000, &shift) || __builtin_add_overflow(ps, shift, &ps))
        return INT64_MIN;
    return ps;
}

/* The report of several hosts has a different time 0. */
static int add_findings(derived *d, const tl_index *beside, const vp_report *r, const char *host)
{
    int64_t origin = r->host_count > 1 ? timeline_time(beside, r, host, 0) : d->origin_ps;
    if (origin == INT64_MIN)
        return 0;
    d->origin_ps = origin;
    return analyze_add_findings(d, r, host);
}

int timeline_added_make(timeline_added **out, derived *tracks, const tl_index *beside,
                        const vp_report *r, const char *host)
{
    timeline_added *a = vp_calloc(1, sizeof *a);
    int rc = 0;
    if (!a) {
        derived_free(tracks);
        return vp_no_memory();
    }
    a->tracks = tracks;
    if (r)
        rc = add_findings(tracks, beside, r, host);
    if (rc >= 0)
        rc = tl_build_derived(&a->x, tracks, beside);
    derived_keep_notes(tracks);
    if (rc < 0) {
        timeline_added_free(a);
        return rc;
    }
    *out = a;
    return 0;
}

void timeline_added_free(timeline_added *a)
{
    if (!a)
        return;
    derived_free(a->tracks);
    tl_free(a->x);
    vp_free(a);
}

uint64_t timeline_added_bytes(const timeline_added *a)
{
    return tl_bytes(a->x) + derived_bytes(a->tracks);
}
