/* When an event starts, and whether anybody wants it: this is asked first, of all kinds of events.
 */
#include "trace/base/limits.h"
#include "trace/read/json/json_reader.h"

bool cj_start(cj_reader *r, const cj_fields *f, int64_t *start_ps)
{
    js_value ts = f->v[CJ_TS];
    bool text = ts.type == JS_SCALAR || ts.type == JS_STRING;
    if (text && !r->has_base)
        r->has_base = js_time_base(ts.s, &r->base_us);
    if (text && r->has_base && js_us_to_ps(ts.s, r->base_us, start_ps) &&
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
