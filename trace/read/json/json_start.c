/* Start of an event, and whether it is wanted: tested first for all kinds of events. */
#include "trace/base/limits.h"
#include "trace/read/json/json_reader.h"

void cj_note_no_time(cj_reader *r, const cj_fields *f)
{
    cj_note(r, CJ_NO_TIME);
    r->timeless_kernels += cj_gpu_cat_of(f->v[CJ_CAT].s) == CJ_GPU_KERNEL;
}

static bool parse_event_start(const cj_reader *r, vp_str ts, int64_t *start_ps)
{
    return js_us_to_ps(ts, r->base_us, start_ps) && *start_ps >= -VP_TIME_MAX_PS &&
           *start_ps <= VP_TIME_MAX_PS;
}

/* If all events so far are at 0 and times since 1970 follow, the base changes to these: the earlier
 * events had no time, and are placed at the first of the others. */
static bool restart_time_base(cj_reader *r, vp_str ts)
{
    int64_t base_us;
    if (r->base_us || r->any_time || !js_time_base(ts, &base_us))
        return false;
    r->base_us = base_us;
    if (base_us)
        r->notes[CJ_NO_TIME_SHOWN] = r->zeros;
    return base_us != 0;
}

bool cj_start(cj_reader *r, const cj_fields *f, int64_t *start_ps)
{
    js_value ts = f->v[CJ_TS];
    bool text = ts.type == JS_SCALAR || ts.type == JS_STRING;
    if (text && !r->has_base)
        r->has_base = js_time_base(ts.s, &r->base_us);
    if (text && r->has_base &&
        (parse_event_start(r, ts.s, start_ps) ||
         (restart_time_base(r, ts.s) && parse_event_start(r, ts.s, start_ps)))) {
        r->any_time = r->any_time || *start_ps;
        if (!r->any_time)
            cj_count_here(&r->zeros, r);
        if (*start_ps < r->extent_first_ps)
            r->extent_first_ps = *start_ps;
        if (*start_ps > r->extent_last_ps)
            r->extent_last_ps = *start_ps;
        return true;
    }
    int64_t us;
    if (text && r->base_us && js_us_to_ps(ts.s, 0, &us) && !us)
        cj_note_no_time(r, f);
    else
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
