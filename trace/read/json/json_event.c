/* Decodes one event's fields and dispatches it. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/read/json/json_reader.h"
#include "trace/read/semantics/attrs.h"

static inline int field_of(vp_str key)
{
    switch (key.n) {
    case 2:
        return VP_SAME(key.p, "ph")   ? CJ_PH
               : VP_SAME(key.p, "ts") ? CJ_TS
               : VP_SAME(key.p, "id") ? CJ_ID
                                      : CJ_FIELDS;
    case 3:
        return VP_SAME(key.p, "pid")   ? CJ_PID
               : VP_SAME(key.p, "tid") ? CJ_TID
               : VP_SAME(key.p, "dur") ? CJ_DUR
               : VP_SAME(key.p, "cat") ? CJ_CAT
               : VP_SAME(key.p, "id2") ? CJ_ID2
                                       : CJ_FIELDS;
    case 4:
        return VP_SAME(key.p, "name") ? CJ_NAME : VP_SAME(key.p, "args") ? CJ_ARGS : CJ_FIELDS;
    case 5:
        return VP_SAME(key.p, "scope") ? CJ_SCOPE : CJ_FIELDS;
    case 11:
        return VP_SAME(key.p, "traceEvents") ? CJ_CONTAINER : CJ_FIELDS;
    default:
        return CJ_FIELDS;
    }
}

js_step cj_event_fields(const char *p, const char *end, js_skip_fn *skip, cj_layout *layout,
                        cj_fields *f, const char **after)
{
    js_value other;
    js_step step;
    uint32_t *link = &layout->first;
    bool any = false, container = false;
    int id;
    for (int i = 0; i < CJ_FIELDS; i++) /* a memset of this size costs 15 ns */
        f->v[i] = (js_value){VP_STR_NONE, JS_NONE};
    p++;
    while ((step = cj_next_field(&p, end, layout, &link, field_of, &id)) == JS_MEMBER) {
        any = true;
        container |= id == CJ_CONTAINER;
        step = js_take_value(&p, end, skip, id < CJ_FIELDS ? &f->v[id] : &other);
        if (step != JS_MEMBER)
            break;
    }
    f->any = any;
    f->container = container;
    *after = p;
    return step;
}

/* The duration of an event. A missing one is 0; a negative one is noted and 0. false: not a number,
 * or the event would end after the maximum time. */
static bool event_duration(cj_reader *r, js_value v, int64_t start_ps, int64_t *dur_ps)
{
    *dur_ps = 0;
    if (v.type == JS_NONE)
        return true;
    if (v.type == JS_NESTED || !js_us_to_ps(v.s, 0, dur_ps) ||
        (*dur_ps > 0 && *dur_ps > VP_TIME_MAX_PS - start_ps)) {
        cj_note(r, CJ_BAD_EVENT);
        return false;
    }
    if (*dur_ps < 0) {
        cj_note(r, CJ_NEGATIVE);
        *dur_ps = 0;
    }
    return true;
}

/* True for events that Kineto writes on a device's stream but that are not work: annotations and
 * waits. */
static bool is_echo(vp_str cat)
{
    return vp_str_starts(cat, VP_STR("gpu_")) || vp_str_eq(cat, VP_STR("cuda_sync"));
}

/* by: only if the reader wants operators and launch calls, but no other host events. */
static int emit_host_event(cj_reader *r, const cj_fields *f, cj_thread *t, cj_caller by,
                           int64_t start_ps, int64_t dur_ps)
{
    cj_attrs a;
    sink_event e = {.start_ps = start_ps, .dur_ps = dur_ps, .aligned_start_ps = SINK_NO_TIME};
    if (!r->opts->device_only)
        e.extra = cj_host_attrs(&a, r, f);
    else if (by == CJ_LAUNCH)
        e.extra = cj_launch_attrs(&a, r, f);
    if (is_echo(f->v[CJ_CAT].s))
        t->has_echo = true;
    else
        t->has_own = true;
    bool memory = e.extra && !dur_ps && rd_is_memory(e.extra);
    VP_TRY(cj_track_of(r, t, &e.track));
    if (memory) {
        sink_extra_set(&a.x, SINK_MEM_THREAD, e.track);
        VP_TRY(cj_memory_track(r, t, a.allocator, &e.track));
    }
    if (cj_is_costed(r, f)) {
        VP_TRY(cj_costed_op(r, f, &a.x, &e.kind));
        e.extra = a.x.has ? &a.x : NULL;
    } else {
        VP_TRY(cj_kind_plain(r, f, &e.kind));
    }
    return cj_emit(r, t, &e);
}

static int complete_event(cj_reader *r, const cj_fields *f)
{
    int64_t start_ps, dur_ps;
    cj_thread *t;
    r->complete++;
    if (!cj_start(r, f, &start_ps) || !event_duration(r, f->v[CJ_DUR], start_ps, &dur_ps))
        return 0;
    if (start_ps + dur_ps > r->extent_last_ps)
        r->extent_last_ps = start_ps + dur_ps;
    VP_TRY(cj_op(r, f, start_ps, dur_ps, &t));
    if (!t)
        return 0;
    cj_caller by =
        r->opts->device_only && r->opts->operators ? cj_caller_of(f->v[CJ_CAT].s) : CJ_NO_CALLER;
    return by == CJ_NO_CALLER && cj_unwanted(r) ? 0
                                                : emit_host_event(r, f, t, by, start_ps, dur_ps);
}

static int instant_event(cj_reader *r, const cj_fields *f)
{
    int64_t start_ps;
    cj_thread *t;
    if (!cj_start(r, f, &start_ps) || cj_unwanted(r))
        return 0;
    VP_TRY(cj_thread_of(r, f, &t));
    return emit_host_event(r, f, t, CJ_NO_CALLER, start_ps, 0);
}

int cj_event(cj_reader *r, const cj_fields *f)
{
    js_value ph = f->v[CJ_PH];
    if (!f->any) /* XLA ends its list with {} */
        return 0;
    if (ph.type != JS_STRING || !ph.s.n) {
        cj_note(r, CJ_BAD_EVENT);
        return 0;
    }
    r->phased++;
    switch (*ph.s.p) {
    case 'X':
        return complete_event(r, f);
    case 'B':
    case 'E':
        return cj_edge_of(r, f, *ph.s.p == 'E');
    case 'b':
    case 'e':
    case 'n':
    case 'S':
    case 'F':
    case 'T':
    case 'p':
        return cj_async(r, f, *ph.s.p);
    case 'i':
    case 'I':
    case 'R':
        return instant_event(r, f);
    case 'M':
        return cj_metadata(r, f);
    default:
        break;
    }
    /* These phases are not spans: counters, flows, objects, samples, memory dumps, clock syncs,
     * contexts, links. */
    if (strchr("CstfNODPvVc()=", *ph.s.p) && *ph.s.p)
        r->out->skipped(r->out, 1);
    else
        cj_note(r, CJ_UNKNOWN_PHASE);
    return 0;
}
