#include "trace/analyze/merge/clocks.h"

#include <string.h>

#include "trace/analyze/merge/match.h"
#include "trace/base/err.h"

/* First device of a host, or device_count. */
static size_t first_device_of_host(const vp_report *r, const char *host)
{
    size_t i = 0;
    while (i < r->device_count && (!r->devices[i].host || strcmp(r->devices[i].host, host) != 0))
        i++;
    return i;
}

static int64_t round_ps_to_ns(int64_t ps)
{
    int64_t down = ps / 1000 - (ps % 1000 < 0);
    return down + (ps - down * 1000 >= 500);
}

/* Offset of a host with a device, relative to the report's origin. */
static void take_host(host_clock *c, const match *m, size_t device, bool any_compared)
{
    uint32_t h = m->host_of[device];
    int64_t offset_ns = round_ps_to_ns(m->offset_ps[h]);
    if (__builtin_sub_overflow(offset_ns, m->r->devices[device].timeline_ns, &c->shift_ns))
        return;
    c->zero_ns = m->r->devices[device].timeline_ns;
    c->wall = m->r->base_unix_ns != VP_UNKNOWN;
    c->how = c->wall ? HOST_CLOCK_WALL : HOST_CLOCK_START;
    if (m->compared[h]) {
        c->how = HOST_CLOCK_COLLECTIVES;
        c->offset_ps = m->offset_ps[h];
        c->error_ps = m->error_ps[h];
        c->calls = m->compared[h];
    } else if (any_compared && h == m->reference) {
        c->how = HOST_CLOCK_REFERENCE;
    }
}

/* Lower bound for the times in a host's file: XSpace times begin at 0, those of text formats at the
 * first event. */
static int64_t least_of(const host_clock *c, const cat_session *s, const cat_host *h)
{
    bool text = rd_formats[s->files[h->primary].kind.format].text;
    return text || c->zero_ns < 0 ? c->zero_ns : 0;
}

/* Shifts all hosts by the same amount, so that the earliest begins at 0 or later. */
static void begin_at_zero(host_clock *out, const cat_session *s)
{
    int64_t first = 0;
    for (size_t i = 0; i < s->host_count; i++) {
        int64_t at;
        if (out[i].how != HOST_CLOCK_UNPLACED &&
            !__builtin_add_overflow(least_of(&out[i], s, &s->hosts[i]), out[i].shift_ns, &at) &&
            at < first)
            first = at;
    }
    for (size_t i = 0; i < s->host_count; i++)
        if (out[i].how != HOST_CLOCK_UNPLACED &&
            __builtin_sub_overflow(out[i].shift_ns, first, &out[i].shift_ns))
            out[i] = (host_clock){0};
}

int clocks_of(host_clock *out, const cat_session *s, const vp_report *r)
{
    match m;
    bool any = false;
    for (size_t i = 0; i < s->host_count; i++)
        out[i] = (host_clock){0};
    if (!r)
        return 0;
    int rc = match_make(&m, r);
    for (size_t h = 0; rc >= 0 && h < m.host_count; h++)
        any = any || m.compared[h];
    for (size_t i = 0; rc >= 0 && i < s->host_count; i++) {
        size_t device = first_device_of_host(r, s->hosts[i].name);
        if (device < r->device_count)
            take_host(&out[i], &m, device, any);
    }
    match_free(&m);
    begin_at_zero(out, s);
    return rc;
}
