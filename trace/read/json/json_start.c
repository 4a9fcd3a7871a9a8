/* When an event starts, and whether anybody wants it: this is asked first, of all kinds of events.
 */
#include "trace/base/limits.h"
#include "trace/read/json/json_reader.h"

/* Times below this many µs (11 days) are kept as they are, so that positions read as in the file;
 * above, picoseconds of Unix time would not fit 64 bits. */
#define PLAIN_TIME_MAX_US INT64_C(1000000000000)

/* The base: any whole µs near the first time will do. */
static bool choose_base(cj_reader *r, vp_str ts)
{
    if (!js_about(ts, &r->first_us))
        return false;
    bool plain = r->first_us > -PLAIN_TIME_MAX_US && r->first_us < PLAIN_TIME_MAX_US;
    r->base_us = plain ? 0 : r->first_us;
    r->has_base = true;
    return true;
}

bool cj_start(cj_reader *r, const cj_fields *f, int64_t *start_ps)
{
    js_value ts = f->v[CJ_TS];
    bool text = ts.type == JS_SCALAR || ts.type == JS_STRING;
    if (text && (r->has_base || choose_base(r, ts.s)) && js_us_to_ps(ts.s, r->base_us, start_ps) &&
        *start_ps >= -VP_TIME_MAX_PS && *start_ps <= VP_TIME_MAX_PS) {
        if (*start_ps < r->extent_first_ps)
            r->extent_first_ps = *start_ps;
        if (*start_ps > r->extent_last_ps)
            r->extent_last_ps = *start_ps;
        return true;
    }
    cj_note(r, CJ_BAD_EVENT);
    return false;
}

bool cj_unwanted(cj_reader *r)
{
    if (!r->opts->device_only || !r->has_device)
        return false;
    r->out->skipped(r->out, 1);
    return true;
}
