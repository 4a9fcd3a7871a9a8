#include "trace/analyze/host/calls.h"

#include "trace/analyze/host/host_kinds.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

static int add_calls_of_track(call_index *x, const trace *t, uint32_t track,
                              const host_kinds *kinds)
{
    const trace_track *k = &t->tracks[track];
    const trace_column *ids = k->attr[SINK_CORRELATION];
    for (size_t e = trace_column_next(ids, 0); e < k->count; e = trace_column_next(ids, e + 1)) {
        bool is_launch = host_kind_flags(kinds, trace_kind_of(k, e)) & HK_LAUNCH;
        VP_TRY(vp_grow(&x->call, &x->cap, x->count + 1, sizeof *x->call, UINT32_MAX - 1));
        VP_TRY(launch_list_add(is_launch ? &x->launches : &x->others,
                               trace_column_get(ids, e, SINK_NO_VALUE), trace_start(k, e),
                               (uint32_t)x->count));
        x->call[x->count++] = (host_call){track, (uint32_t)e};
    }
    return 0;
}

static int call_index_fill(call_index *x, const trace *t, const host_kinds *kinds)
{
    launch_list_init(&x->launches);
    launch_list_init(&x->others);
    for (uint32_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_PLAIN)
            VP_TRY(add_calls_of_track(x, t, i, kinds));
    VP_TRY(launch_list_finish(&x->launches));
    return launch_list_finish(&x->others);
}

int calls_new(call_index **out, const trace *t, const host_kinds *kinds)
{
    call_index *x = vp_calloc(1, sizeof *x);
    VP_NEED(x);
    int rc = call_index_fill(x, t, kinds);
    if (rc < 0) {
        calls_free(x);
        return rc;
    }
    *out = x;
    return 0;
}

void calls_free(call_index *x)
{
    if (!x)
        return;
    launch_list_free(&x->launches);
    launch_list_free(&x->others);
    vp_free(x->call);
    vp_free(x);
}

uint32_t calls_find(const call_index *x, const trace_track *ops, size_t index)
{
    int64_t id = trace_attr(ops, SINK_CORRELATION, index);
    if (id == SINK_NO_VALUE || !x->count)
        return UINT32_MAX;
    int64_t start = trace_aligned_start(ops, index);
    const launch_entry *e = launch_list_find(&x->launches, id, start);
    e = e ? e : launch_list_find(&x->others, id, start);
    return e ? e->value : UINT32_MAX;
}

int64_t call_start(const call_index *x, const trace *t, uint32_t call)
{
    const host_call *c = &x->call[call];
    return trace_start(&t->tracks[c->track], c->index);
}

int64_t call_end(const call_index *x, const trace *t, uint32_t call)
{
    const host_call *c = &x->call[call];
    return call_start(x, t, call) + trace_dur(&t->tracks[c->track], c->index);
}
