#include "trace/analyze/host/calls.h"

#include <stdlib.h>
#include <string.h>

#include "trace/analyze/host/host_kinds.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

typedef struct entry {
    int64_t id;
    host_call call;
    bool launch;
} entry;

typedef struct entries {
    entry *v;
    size_t n, cap;
} entries;

static int by_correlation_id(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->launch != y->launch)
        return x->launch ? -1 : 1;
    if (x->call.track != y->call.track)
        return x->call.track < y->call.track ? -1 : 1;
    return (x->call.index > y->call.index) - (x->call.index < y->call.index);
}

static int gather_call_entries(entries *out, const trace *t, const host_kinds *kinds)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        const trace_column *ids = k->attr[SINK_CORRELATION];
        if (k->role != SINK_ROLE_PLAIN)
            continue;
        for (size_t e = trace_column_next(ids, 0); e < k->count;
             e = trace_column_next(ids, e + 1)) {
            int64_t id = trace_attr(k, SINK_CORRELATION, e);
            VP_TRY(vp_grow(&out->v, &out->cap, out->n + 1, sizeof *out->v, VP_EVENTS_MAX));
            out->v[out->n++] = (entry){
                id, {i, (uint32_t)e}, host_kind_flags(kinds, trace_kind_of(k, e)) & HK_LAUNCH};
        }
    }
    return 0;
}

/* True if a table by id is small enough: profilers number calls in order, so it is usually not much
 * larger than the list. */
static bool are_dense(const entries *e, int64_t *least, size_t *range)
{
    int64_t most = INT64_MIN;
    *least = INT64_MAX;
    for (size_t i = 0; i < e->n; i++) {
        *least = e->v[i].id < *least ? e->v[i].id : *least;
        most = e->v[i].id > most ? e->v[i].id : most;
    }
    uint64_t span = (uint64_t)most - (uint64_t)*least;
    *range = (size_t)span;
    return e->n && span / 8 < e->n + 1024;
}

static void call_index_put(call_index *x, const entry *e)
{
    x->id[x->count] = e->id;
    x->call[x->count++] = e->call;
}

/* Fills the table by id. Of several calls of one id, the first in the order of by_correlation_id
 * counts. */
static int fill_places(call_index *x, const entries *e, int64_t least, size_t range)
{
    x->place = vp_realloc_array(NULL, range + 1, sizeof *x->place);
    VP_NEED(x->place);
    memset(x->place, 0xff, (range + 1) * sizeof *x->place);
    for (size_t i = 0; i < e->n; i++) {
        uint32_t *at = &x->place[(uint64_t)e->v[i].id - (uint64_t)least];
        if (*at == UINT32_MAX || by_correlation_id(&e->v[i], &e->v[*at]) < 0)
            *at = (uint32_t)i;
    }
    for (size_t i = 0; i <= range; i++) {
        if (x->place[i] == UINT32_MAX)
            continue;
        call_index_put(x, &e->v[x->place[i]]);
        x->place[i] = (uint32_t)x->count - 1;
    }
    return 0;
}

static void fill_sorted(call_index *x, entries *e)
{
    if (e->n)
        qsort(e->v, e->n, sizeof *e->v, by_correlation_id);
    for (size_t i = 0; i < e->n; i++)
        if (!x->count || x->id[x->count - 1] != e->v[i].id)
            call_index_put(x, &e->v[i]);
}

static int call_index_fill(call_index *x, entries *e)
{
    int64_t least;
    size_t range;
    x->id = vp_realloc_array(NULL, e->n + 1, sizeof *x->id);
    x->call = vp_realloc_array(NULL, e->n + 1, sizeof *x->call);
    VP_NEED(x->id && x->call);
    if (are_dense(e, &least, &range))
        return fill_places(x, e, least, range);
    fill_sorted(x, e);
    return 0;
}

int calls_new(call_index **out, const trace *t, const host_kinds *kinds)
{
    entries e = {0};
    call_index *x = vp_calloc(1, sizeof *x);
    VP_NEED(x);
    int rc = gather_call_entries(&e, t, kinds);
    if (rc >= 0)
        rc = call_index_fill(x, &e);
    vp_free(e.v);
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
    vp_free(x->id);
    vp_free(x->call);
    vp_free(x->place);
    vp_free(x);
}

uint32_t calls_find(const call_index *x, const trace_track *ops, size_t index)
{
    int64_t id = trace_attr(ops, SINK_CORRELATION, index);
    size_t low = 0, high = x->count;
    if (id == SINK_NO_VALUE || !x->count || id < x->id[0] || id > x->id[x->count - 1])
        return UINT32_MAX;
    if (x->place)
        return x->place[(uint64_t)id - (uint64_t)x->id[0]];
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (x->id[mid] < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low < x->count && x->id[low] == id ? (uint32_t)low : UINT32_MAX;
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
