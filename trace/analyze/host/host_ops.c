#include "trace/analyze/host/host_ops.h"

#include <stdlib.h>

#include "trace/analyze/device/any_device.h"
#include "trace/analyze/device/device_sums.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/host/thread_calls.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* Number of listed rows per host, by self time: more than a reader needs. */
#define HOST_OPS_MAX 100u
/* Number of additional rows: blocking calls that wait inside nested frames, so that they have
 * little self time. Only those that block for at least one in HOST_WAIT_SHARE of the devices'
 * window, because less is never a finding. */
#define HOST_WAITS_MAX 20u
#define HOST_WAIT_SHARE 200

/* Sums of one thread. */
typedef struct counted_thread {
    host_rows calls;
    host_selves selves;
} counted_thread;

typedef struct table {
    host_asked asked;
    uint8_t *hidden_kind;
    uint32_t *order; /* host threads, the longest first */
    size_t order_n;
    counted_thread *counted; /* by track */
    vp_freelist places;
    host_rows rows;
    size_t listed;
} table;

/* True if events of a kind are not work: ops of XLA:CPU, which are also on host threads, and are
 * listed among the ops; the profiler's own frames and nested calls; noise. Their time is not added
 * to the enclosing zones either. */
static bool is_hidden(const analysis *a, uint32_t kind)
{
    return (host_kind_flags(a->kinds, kind) & (HK_NOISE | HK_PROFILER)) ||
           (a->h->has_devices && a->t->kinds[kind].is_op);
}

/* ---- Each thread ---------------------------------------------------------------------------- */

static int take_places(host_places **out, table *b)
{
    *out = vp_freelist_take(&b->places);
    return *out ? 0 : host_places_new(out, b->asked.a->t);
}

/* Two work items per thread, which take about as long. */
static int count_thread_piece(void *ctx, uint32_t i)
{
    table *b = ctx;
    uint32_t track = b->order[i / 2];
    counted_thread *c = &b->counted[track];
    host_places *p;
    VP_TRY(take_places(&p, b));
    int rc = i % 2 ? host_selves_count(&c->selves, &b->asked, p, track)
                   : host_calls_count(&c->calls, &b->asked, p, track);
    vp_freelist_give(&b->places, p);
    return rc;
}

static int longest_thread_first(const void *a, const void *b, void *ctx)
{
    const trace *t = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    size_t x = t->tracks[i].count, y = t->tracks[j].count;
    return x != y ? (x < y) - (x > y) : (i > j) - (i < j);
}

static int list_threads(table *b)
{
    const trace *t = b->asked.a->t;
    b->order = vp_calloc((size_t)t->track_count + 1, sizeof *b->order);
    b->counted = vp_calloc((size_t)t->track_count + 1, sizeof *b->counted);
    VP_NEED(b->order && b->counted);
    for (uint32_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_PLAIN)
            b->order[b->order_n++] = i;
    qsort_r(b->order, b->order_n, sizeof *b->order, longest_thread_first, (void *)t);
    return 0;
}

/* ---- All threads ---------------------------------------------------------------------------- */

static int join_thread(table *b, host_places *p, const counted_thread *c)
{
    host_rows *all = &b->rows;
    size_t first = all->n;
    VP_TRY(vp_grow(&all->v, &all->cap, first + c->calls.n, sizeof *all->v, UINT32_MAX - 1));
    host_places_begin(p);
    for (size_t i = 0; i < c->calls.n; i++) {
        all->v[all->n] = c->calls.v[i];
        host_place_set(p, c->calls.v[i].kind, all->n++);
    }
    for (size_t i = 0; i < c->selves.n; i++) {
        host_row *r = &all->v[host_place_of(p, c->selves.v[i].kind)];
        r->self_ps = c->selves.v[i].self_ps;
        r->idle_ps = c->selves.v[i].idle_ps;
    }
    return 0;
}

static int join_threads(table *b)
{
    host_places *p;
    int rc = 0;
    VP_TRY(take_places(&p, b));
    for (uint32_t i = 0; rc >= 0 && i < b->asked.a->t->track_count; i++)
        rc = join_thread(b, p, &b->counted[i]);
    vp_freelist_give(&b->places, p);
    return rc;
}

static void host_row_add(host_row *sum, const host_row *x)
{
    sum->threads++;
    sum->calls += x->calls;
    sum->total_ps += x->total_ps;
    sum->self_ps += x->self_ps;
    sum->idle_ps += x->idle_ps;
    if (x->max_ps > sum->max_ps) {
        sum->max_ps = x->max_ps;
        sum->max_start_ps = x->max_start_ps;
    }
    if (x->track_self_ps > sum->track_self_ps) {
        sum->track_self_ps = x->track_self_ps;
        sum->track = x->track;
    }
}

/* Joins the rows with one name on all threads of a process: 64 threads of a pool are one row.
 * Blocking calls stay separate, since threads wait concurrently and these times must not be added
 * up. */
static int fold_threads(table *b)
{
    const trace *t = b->asked.a->t;
    host_row *v = b->rows.v;
    host_places *p;
    size_t n = 0;
    VP_TRY(host_places_new(&p, t));
    for (size_t i = 0; i < b->rows.n; i++) {
        host_row x = v[i];
        x.track_self_ps = x.self_ps;
        p->use = t->tracks[x.track].process + 1;
        if (!(host_kind_flags(b->asked.a->kinds, x.kind) & HK_BLOCKING)) {
            uint32_t at = host_place_of(p, x.kind);
            if (at != UINT32_MAX) {
                host_row_add(&v[at], &x);
                continue;
            }
            host_place_set(p, x.kind, n);
        }
        v[n++] = x;
    }
    b->rows.n = n;
    host_places_free(p);
    return 0;
}

static int by_host_self(const void *a, const void *b)
{
    const host_row *x = a, *y = b;
    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static int by_blocked(const void *a, const void *b)
{
    const host_row *x = a, *y = b;
    if (x->blocked_ps != y->blocked_ps)
        return x->blocked_ps > y->blocked_ps ? -1 : 1;
    return by_host_self(a, b);
}

/* Sorts by self time. The listed rows are followed by those that block longest. */
static void sort_host_rows(table *b)
{
    host_row *v = b->rows.v;
    size_t rest = b->rows.n > HOST_OPS_MAX ? b->rows.n - HOST_OPS_MAX : 0;
    const spans inner = host_between_ops(b->asked.idle);
    int64_t least = inner.n ? (inner.v[inner.n - 1].end - inner.v[0].start) / HOST_WAIT_SHARE : 0;
    b->listed = b->rows.n - rest;
    if (b->rows.n)
        qsort(v, b->rows.n, sizeof *v, by_host_self);
    if (!rest)
        return;
    qsort(v + b->listed, rest, sizeof *v, by_blocked);
    for (size_t i = 0; i < rest && i < HOST_WAITS_MAX; i++)
        b->listed += v[HOST_OPS_MAX + i].blocked_ps > least;
    qsort(v + HOST_OPS_MAX, b->listed - HOST_OPS_MAX, sizeof *v, by_host_self);
}

static int emit_host_op(host_result *h, const analysis *a, const host_row *r)
{
    vp_host_op out = {.cause = host_kind_cause(a->kinds, r->kind),
                      .blocking = host_kind_flags(a->kinds, r->kind) & HK_BLOCKING,
                      .threads = r->threads,
                      .calls = r->calls,
                      .total_ps = r->total_ps,
                      .self_ps = r->self_ps,
                      .idle_ps = r->idle_ps,
                      .blocked_ps = r->blocked_ps,
                      .max_ps = r->max_ps,
                      .max_start_ps = r->max_start_ps - h->origin_ps};
    VP_TRY(host_text(&out.name, h, trace_str(a->t, a->t->kinds[r->kind].name)));
    VP_TRY(thread_text(&out.thread, h, a->t, r->track));
    VP_TRY(
        vp_grow(&h->host_ops, &h->host_op_cap, h->host_op_count + 1, sizeof out, SIZE_MAX / 1024));
    h->host_ops[h->host_op_count++] = out;
    return 0;
}

static int count_all(table *b)
{
    static const spans none;
    const analysis *a = b->asked.a;
    b->hidden_kind = vp_calloc((size_t)a->t->kind_count + 1, sizeof *b->hidden_kind);
    VP_NEED(b->hidden_kind);
    for (uint32_t k = 0; k < a->t->kind_count; k++)
        b->hidden_kind[k] = is_hidden(a, k);
    b->asked.hidden_kind = b->hidden_kind;
    b->asked.idle = &none;
    if (a->h->has_devices)
        VP_TRY(any_device_idle(&b->asked.idle, a));
    VP_TRY(list_threads(b));
    VP_TRY(vp_each(device_sums_threads(a->t), (uint32_t)b->order_n * 2, count_thread_piece, b));
    VP_TRY(join_threads(b));
    VP_TRY(fold_threads(b));
    sort_host_rows(b);
    return 0;
}

struct host_ops_task {
    vp_aside aside;
    table table;
};

static int run_host_ops_task(void *ctx)
{
    host_ops_task *task = ctx;
    return count_all(&task->table);
}

int host_ops_start(analysis *a)
{
    host_ops_task *task = a->host_ops = vp_calloc(1, sizeof *task);
    VP_NEED(task);
    task->table.asked.a = a;
    vp_freelist_init(&task->table.places);
    vp_aside_start(&task->aside, run_host_ops_task, task);
    return 0;
}

int host_ops_collect(analysis *a)
{
    const table *b = &a->host_ops->table;
    VP_TRY(vp_aside_join(&a->host_ops->aside, 0));
    a->h->host_op_total = (int64_t)b->rows.n;
    for (size_t i = 0; i < b->listed; i++)
        VP_TRY(emit_host_op(a->h, a, &b->rows.v[i]));
    return 0;
}

static void table_free(table *b)
{
    for (uint32_t i = 0; b->counted && i < b->asked.a->t->track_count; i++) {
        vp_free(b->counted[i].calls.v);
        vp_free(b->counted[i].selves.v);
    }
    for (host_places *p; (p = vp_freelist_take(&b->places));)
        host_places_free(p);
    vp_freelist_end(&b->places);
    vp_free(b->counted);
    vp_free(b->order);
    vp_free(b->rows.v);
    vp_free(b->hidden_kind);
}

void host_ops_end(analysis *a)
{
    host_ops_task *task = a->host_ops;
    if (!task)
        return;
    vp_aside_wait(&task->aside);
    table_free(&task->table);
    vp_free(task);
    a->host_ops = NULL;
}
