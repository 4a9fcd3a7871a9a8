#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/read/attrs.h"
#include "trace/read/json_reader.h"

/* Times below this many µs (11 days) are kept as they are, so that positions read as in the file;
 * above, picoseconds of Unix time would not fit 64 bits. */
#define PLAIN_TIME_MAX_US INT64_C(1000000000000)

static int field_of(vp_str key)
{
    switch (key.n) {
    case 2:
        return !memcmp(key.p, "ph", 2)   ? CJ_PH
               : !memcmp(key.p, "ts", 2) ? CJ_TS
               : !memcmp(key.p, "id", 2) ? CJ_ID
                                         : CJ_FIELDS;
    case 3:
        return !memcmp(key.p, "pid", 3)   ? CJ_PID
               : !memcmp(key.p, "tid", 3) ? CJ_TID
               : !memcmp(key.p, "dur", 3) ? CJ_DUR
               : !memcmp(key.p, "cat", 3) ? CJ_CAT
               : !memcmp(key.p, "id2", 3) ? CJ_ID2
                                          : CJ_FIELDS;
    case 4:
        return !memcmp(key.p, "name", 4)   ? CJ_NAME
               : !memcmp(key.p, "args", 4) ? CJ_ARGS
                                           : CJ_FIELDS;
    case 5:
        return !memcmp(key.p, "scope", 5) ? CJ_SCOPE : CJ_FIELDS;
    default:
        return CJ_FIELDS;
    }
}

/* Whether [p, p + CJ_LAYOUT_TEXT), readable behind the end (RD_PAD), begins with the text. */
static inline bool begins_with(const char *p, const char *text, uint32_t n)
{
#ifdef __SSE2__
    __m128i a = _mm_loadu_si128((const __m128i *)p), b = _mm_loadu_si128((const __m128i *)text);
    uint32_t same = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
    if (n > 16) {
        a = _mm_loadu_si128((const __m128i *)(p + 16));
        b = _mm_loadu_si128((const __m128i *)(text + 16));
        same |= (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) << 16;
    }
    return (~same & (UINT32_MAX >> (32 - n))) == 0;
#else
    return memcmp(p, text, n) == 0;
#endif
}

static void remember(cj_layout *layout, size_t member, const char *p, const char *value, int field)
{
    size_t n = (size_t)(value - p);
    layout->member[member].n = 0;
    if (n > CJ_LAYOUT_TEXT)
        return;
    memcpy(layout->member[member].text, p, n);
    layout->member[member].n = (uint32_t)n;
    layout->member[member].field = field;
}

/* js_next_key with a memory: the field of the member whose value *at then stands on. */
static inline js_step next_field(const char **at, const char *end, cj_layout *layout, size_t member,
                                 cj_fields *f, int *field)
{
    const char *p = *at;
    vp_str key;
    if (member < CJ_LAYOUT_MAX) {
        uint32_t n = layout->member[member].n;
        if (n && n < (size_t)(end - p) && begins_with(p, layout->member[member].text, n) &&
            (unsigned char)p[n] > ' ') {
            *at = p + n;
            *field = layout->member[member].field;
            return JS_MEMBER;
        }
    }
    js_step step = js_next_key(at, end, &key);
    if (step != JS_MEMBER)
        return step;
    *field = field_of(key);
    bool container = *field == CJ_FIELDS && vp_str_eq(key, VP_STR("traceEvents"));
    f->container = f->container || container;
    if (member < CJ_LAYOUT_MAX && !container)
        remember(layout, member, p, *at, *field);
    return step;
}

js_step cj_event_fields(const char *p, const char *end, js_skip_fn *skip, cj_layout *layout,
                        cj_fields *f, const char **after)
{
    js_value other;
    js_step step;
    int id;
    f->any = f->container = false;
    for (int i = 0; i < CJ_FIELDS; i++) { /* a memset of this size costs 15 ns */
        f->v[i].s = VP_STR_NONE;
        f->v[i].type = JS_NONE;
    }
    p++;
    for (size_t i = 0; (step = next_field(&p, end, layout, i, f, &id)) == JS_MEMBER; i++) {
        f->any = true;
        step = js_take_value(&p, end, skip, id == CJ_FIELDS ? &other : &f->v[id]);
        if (step != JS_MEMBER)
            break;
    }
    *after = p;
    return step;
}

/* Any whole µs near the first time will do for a base. */
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

/* Missing is 0, negative is noted and 0; false: no number, or it ends after the end of time. */
static bool duration(cj_reader *r, js_value v, int64_t start_ps, int64_t *dur_ps)
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

bool cj_unwanted(cj_reader *r)
{
    if (!r->opts->device_only || !r->has_device)
        return false;
    r->out->skipped(r->out, 1);
    return true;
}

/* What Kineto draws on a device's stream besides work: annotations, and waits for it. */
static bool is_echo(vp_str cat)
{
    return vp_str_starts(cat, VP_STR("gpu_")) || vp_str_eq(cat, VP_STR("cuda_sync"));
}

static int host_event(cj_reader *r, const cj_fields *f, int64_t start_ps, int64_t dur_ps)
{
    cj_thread *t;
    cj_attrs a;
    sink_event e = {.start_ps = start_ps, .dur_ps = dur_ps, .aligned_start_ps = SINK_NO_TIME};
    if (cj_unwanted(r))
        return 0;
    VP_TRY(cj_thread_of(r, f, &t));
    if (!r->opts->device_only)
        e.extra = cj_host_attrs(&a, r->skip, f);
    if (is_echo(f->v[CJ_CAT].s))
        t->has_echo = true;
    else
        t->has_own = true;
    bool memory = e.extra && !dur_ps && rd_is_memory(e.extra);
    VP_TRY(memory ? cj_memory_track(r, t, a.allocator, &e.track) : cj_track_of(r, t, &e.track));
    VP_TRY(cj_kind_plain(r, f, &e.kind));
    return cj_emit(r, t, &e);
}

static int complete_event(cj_reader *r, const cj_fields *f)
{
    int64_t start_ps, dur_ps;
    bool taken;
    r->complete++;
    if (!cj_start(r, f, &start_ps) || !duration(r, f->v[CJ_DUR], start_ps, &dur_ps))
        return 0;
    if (start_ps + dur_ps > r->extent_last_ps)
        r->extent_last_ps = start_ps + dur_ps;
    VP_TRY(cj_op(r, f, start_ps, dur_ps, &taken));
    return taken ? 0 : host_event(r, f, start_ps, dur_ps);
}

static int instant_event(cj_reader *r, const cj_fields *f)
{
    int64_t start_ps;
    return cj_start(r, f, &start_ps) ? host_event(r, f, start_ps, 0) : 0;
}

int cj_event(cj_reader *r, const cj_fields *f)
{
    js_value ph = f->v[CJ_PH];
    if (!f->any) /* the {} with which XLA ends its list */
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
    /* Counters, flows, objects, samples, memory dumps, clock syncs, contexts, links. */
    if (strchr("CstfNODPvVc()=", *ph.s.p) && *ph.s.p)
        r->out->skipped(r->out, 1);
    else
        cj_note(r, CJ_UNKNOWN_PHASE);
    return 0;
}
