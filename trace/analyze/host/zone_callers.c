#include "trace/analyze/host/zone_callers.h"

#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/host/user_kinds.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

#define NO_KIND UINT32_MAX

/* Time of a zone in one frame. */
typedef struct zone_frame {
    uint32_t zone, frame;
    int64_t ps;
} zone_frame;

typedef struct zone_frames {
    const analysis *a;
    zone_frame *v;
    size_t n, cap;
    uint32_t *last; /* by zone: its entry of the last call, plus 1; usually the next one's, too */
    vp_map at;      /* zone << 32 | frame → entry */
    user_stack frames;
} zone_frames;

static int add_call(zone_frames *x, uint32_t zone, uint32_t frame, int64_t ps)
{
    uint32_t at = x->last[zone] - 1;
    if (!x->last[zone] || x->v[at].frame != frame) {
        uint64_t key = (uint64_t)zone << 32 | frame;
        at = vp_map_get(&x->at, key);
        if (at == VP_MAP_NONE) {
            VP_TRY(vp_grow(&x->v, &x->cap, x->n + 1, sizeof *x->v, UINT32_MAX - 1));
            at = (uint32_t)x->n++;
            x->v[at] = (zone_frame){zone, frame, 0};
            VP_TRY(vp_map_set(&x->at, key, at));
        }
        x->last[zone] = at + 1;
    }
    x->v[at].ps += ps;
    return 0;
}

static int walk_track(zone_frames *x, const trace_track *k)
{
    x->frames.n = 0;
    for (size_t i = 0; i < k->count; i++) {
        uint32_t kind = trace_kind_of(k, i);
        int64_t start = trace_start(k, i), end = trace_end(k, i);
        user_stack_close(&x->frames, start);
        if (host_kind_flags(x->a->kinds, kind) & HK_USER)
            VP_TRY(user_stack_open(&x->frames, kind, end));
        else if (x->frames.n)
            VP_TRY(add_call(x, kind, user_stack_top(&x->frames), end - start));
    }
    return 0;
}

static int walk_tracks(uint32_t *out, zone_frames *x)
{
    const trace *t = x->a->t;
    x->last = vp_calloc((size_t)t->kind_count + 1, sizeof *x->last);
    VP_NEED(x->last);
    for (uint32_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_PLAIN && !t->tracks[i].spans)
            VP_TRY(walk_track(x, &t->tracks[i]));
    for (size_t i = 0; i < x->n; i++) { /* last: the entry with most time */
        uint32_t *best = &x->last[x->v[i].zone];
        if (x->v[i].ps > x->v[*best - 1].ps)
            *best = (uint32_t)i + 1;
    }
    for (uint32_t k = 0; k < t->kind_count; k++)
        out[k] = x->last[k] ? x->v[x->last[k] - 1].frame : NO_KIND;
    return 0;
}

int zone_callers_new(uint32_t **out, const analysis *a)
{
    zone_frames x = {.a = a};
    bool any = false;
    *out = vp_calloc((size_t)a->t->kind_count + 1, sizeof **out);
    VP_NEED(*out);
    for (uint32_t k = 0; k < a->t->kind_count; k++) {
        (*out)[k] = NO_KIND;
        any = any || (host_kind_flags(a->kinds, k) & HK_USER);
    }
    if (!any)
        return 0;
    vp_map_init(&x.at);
    int rc = walk_tracks(*out, &x);
    vp_map_free(&x.at);
    vp_free(x.v);
    vp_free(x.last);
    vp_free(x.frames.v);
    return rc;
}
