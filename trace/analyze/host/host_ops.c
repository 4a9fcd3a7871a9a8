#include "trace/analyze/host/host_ops.h"

#include <stdlib.h>
#include <string.h>

#include "trace/analyze/device/any_device.h"
#include "trace/analyze/device/self.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* So many are listed of each host, by self time: more than anybody reads. */
#define HOST_OPS_MAX 100u
/* So many more are listed: calls that block, but whose waiting is in frames that they call, so that
 * they have hardly any self time. Only those that block for at least one in HOST_WAIT_SHARE of the
 * devices' window, below which no finding is worth telling. */
#define HOST_WAITS_MAX 20u
#define HOST_WAIT_SHARE 200

/* A name on a thread. When folded, it is the name on all threads of its process, and `track` is the
 * one with most of its self time. */
typedef struct row {
    uint32_t track, kind, threads;
    int64_t track_self_ps;
    int64_t calls, total_ps, self_ps, idle_ps, blocked_ps;
    int64_t max_ps, max_start_ps;
    nesting open;
} row;

typedef struct table {
    const analysis *a;
    const spans *idle; /* when all devices are idle; none without devices */
    row *v;
    size_t n, cap, listed;
    uint8_t *hidden_kind;  /* see is_hidden */
    uint32_t *row_of_kind; /* on this thread, valid where `thread` says so */
    uint32_t *thread;      /* by kind: the thread (+ 1) for which row_of_kind is valid */
    uint32_t track;
    const trace_track *k;
    spans hidden; /* when this thread does the profiler's own work */
    size_t hidden_at;
    size_t idle_at, inner_at;
    int64_t blocked_until; /* when the thread's blocking calls so far have ended */
} table;

/* Whether events of a kind are nobody's work: ops of XLA:CPU, which are on host threads, too, and
 * are listed among the ops; the profiler's own frames and what they call; noise. Their time is not
 * given to the zones around them either. */
static bool is_hidden(const table *b, uint32_t kind)
{
    return (host_kind_flags(b->a->kinds, kind) & (HK_NOISE | HK_PROFILER)) ||
           (b->a->h->has_devices && b->a->t->kinds[kind].is_op);
}

/* Whether this is within the profiler's own work. */
static bool in_profiler(table *b, int64_t start)
{
    return b->hidden.n && spans_contain(&b->hidden, start, &b->hidden_at);
}

static int find_profiler(table *b)
{
    b->hidden.n = b->hidden_at = 0;
    const host_kinds *kinds = b->a->kinds;
    for (size_t i = host_sought_from(kinds, b->k, 0); i < b->k->count;
         i = host_sought_from(kinds, b->k, i + 1))
        if (host_kind_flags(kinds, trace_kind_of(b->k, i)) & HK_PROFILER)
            VP_TRY(spans_add(&b->hidden, trace_start(b->k, i), trace_end(b->k, i)));
    return spans_union(&b->hidden);
}

static int row_of(uint32_t *out, table *b, uint32_t kind)
{
    if (b->thread[kind] != b->track + 1) {
        VP_TRY(vp_grow(&b->v, &b->cap, b->n + 1, sizeof *b->v, UINT32_MAX - 1));
        b->v[b->n] = (row){.track = b->track,
                           .threads = 1,
                           .kind = kind,
                           .max_ps = -1,
                           .open = nesting_begin(nesting_none(b->a->t, b->k))};
        b->thread[kind] = b->track + 1;
        b->row_of_kind[kind] = (uint32_t)b->n++;
    }
    *out = b->row_of_kind[kind];
    return 0;
}

/* The idle spans without the first and the last, which lie before the first op and after the last.
 */
static spans between_ops(const spans *idle)
{
    return idle->n < 3 ? (spans){0} : (spans){idle->v + 1, idle->n - 2, 0};
}

/* How long a blocking call stands while no earlier one of the thread still does. */
static int64_t blocked(table *b, int64_t start, int64_t end)
{
    const spans idle = between_ops(b->idle);
    int64_t from = start > b->blocked_until ? start : b->blocked_until;
    if (from >= end)
        return 0;
    b->blocked_until = end;
    return spans_cut(&idle, from, end, &b->inner_at);
}

/* For events that are hidden. */
#define NO_ROW UINT32_MAX

/* Counts event i. *at is set to its row. */
static int count_call(void *ctx, size_t i, size_t *at)
{
    table *b = ctx;
    uint32_t kind = trace_kind_of(b->k, i), found;
    int64_t start = trace_start(b->k, i), dur = trace_dur(b->k, i);
    *at = NO_ROW;
    if (b->hidden_kind[kind] || in_profiler(b, start))
        return 0;
    VP_TRY(row_of(&found, b, kind));
    *at = found;
    row *r = &b->v[found];
    r->calls++;
    if (dur > r->max_ps) {
        r->max_ps = dur;
        r->max_start_ps = start;
    }
    r->total_ps += nesting_add(&r->open, start, start + dur);
    if (host_kind_flags(b->a->kinds, kind) & HK_BLOCKING)
        r->blocked_ps += blocked(b, start, start + dur);
    return 0;
}

static int add_self(void *ctx, size_t at, int64_t start, int64_t end)
{
    table *b = ctx;
    if (at == NO_ROW)
        return 0;
    row *r = &b->v[at];
    r->self_ps += end - start;
    r->idle_ps += spans_cut(b->idle, start, end, &b->idle_at);
    return 0;
}

static void add_row(row *sum, const row *x)
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

/* Joins the rows of one name on all threads of a process: 64 threads of a pool are one row. Calls
 * that block stay apart, since threads wait at the same time and these times must not be added up.
 */
static void fold_threads(table *b)
{
    const trace *t = b->a->t;
    size_t n = 0;
    memset(b->thread, 0, ((size_t)t->kind_count + 1) * sizeof *b->thread);
    for (size_t i = 0; i < b->n; i++) {
        row x = b->v[i];
        uint32_t process = t->tracks[x.track].process + 1;
        x.track_self_ps = x.self_ps;
        if (!(host_kind_flags(b->a->kinds, x.kind) & HK_BLOCKING)) {
            if (b->thread[x.kind] == process) {
                add_row(&b->v[b->row_of_kind[x.kind]], &x);
                continue;
            }
            b->thread[x.kind] = process;
            b->row_of_kind[x.kind] = (uint32_t)n;
        }
        b->v[n++] = x;
    }
    b->n = n;
}

static size_t idle_from(const spans *idle, int64_t t)
{
    size_t low = 0, high = idle->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (idle->v[mid].end <= t)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int one_thread(table *b, uint32_t track)
{
    b->track = track;
    b->k = &b->a->t->tracks[track];
    VP_TRY(find_profiler(b));
    const spans inner = between_ops(b->idle);
    b->idle_at = b->k->count ? idle_from(b->idle, trace_start(b->k, 0)) : 0;
    b->inner_at = b->k->count ? idle_from(&inner, trace_start(b->k, 0)) : 0;
    b->blocked_until = INT64_MIN;
    return self_pieces(b->k, count_call, add_self, b);
}

static int by_self(const void *a, const void *b)
{
    const row *x = a, *y = b;
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
    const row *x = a, *y = b;
    if (x->blocked_ps != y->blocked_ps)
        return x->blocked_ps > y->blocked_ps ? -1 : 1;
    return by_self(a, b);
}

/* Sorts by self time. Behind the rows that are listed anyway come those that block longest. */
static void sort_rows(table *b)
{
    size_t rest = b->n > HOST_OPS_MAX ? b->n - HOST_OPS_MAX : 0;
    const spans inner = between_ops(b->idle);
    int64_t least = inner.n ? (inner.v[inner.n - 1].end - inner.v[0].start) / HOST_WAIT_SHARE : 0;
    b->listed = b->n - rest;
    if (b->n)
        qsort(b->v, b->n, sizeof *b->v, by_self);
    if (!rest)
        return;
    qsort(b->v + b->listed, rest, sizeof *b->v, by_blocked);
    for (size_t i = 0; i < rest && i < HOST_WAITS_MAX; i++)
        b->listed += b->v[HOST_OPS_MAX + i].blocked_ps > least;
    qsort(b->v + HOST_OPS_MAX, b->listed - HOST_OPS_MAX, sizeof *b->v, by_self);
}

static int emit(host_result *h, const analysis *a, const row *r)
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
    const trace *t = b->a->t;
    b->row_of_kind = vp_calloc((size_t)t->kind_count + 1, sizeof *b->row_of_kind);
    b->thread = vp_calloc((size_t)t->kind_count + 1, sizeof *b->thread);
    b->hidden_kind = vp_calloc((size_t)t->kind_count + 1, sizeof *b->hidden_kind);
    VP_NEED(b->row_of_kind && b->thread && b->hidden_kind);
    for (uint32_t k = 0; k < t->kind_count; k++)
        b->hidden_kind[k] = is_hidden(b, k);
    b->idle = &none;
    if (b->a->h->has_devices)
        VP_TRY(any_device_idle(&b->idle, b->a));
    for (uint32_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_PLAIN)
            VP_TRY(one_thread(b, i));
    fold_threads(b);
    sort_rows(b);
    return 0;
}

struct host_ops_task {
    vp_aside aside;
    table table;
};

static int run(void *ctx)
{
    host_ops_task *task = ctx;
    return count_all(&task->table);
}

int host_ops_start(analysis *a)
{
    host_ops_task *task = a->host_ops = vp_calloc(1, sizeof *task);
    VP_NEED(task);
    task->table.a = a;
    vp_aside_start(&task->aside, run, task);
    return 0;
}

int host_ops_collect(analysis *a)
{
    const table *b = &a->host_ops->table;
    VP_TRY(vp_aside_join(&a->host_ops->aside, 0));
    a->h->host_op_total = (int64_t)b->n;
    for (size_t i = 0; i < b->listed; i++)
        VP_TRY(emit(a->h, a, &b->v[i]));
    return 0;
}

void host_ops_end(analysis *a)
{
    host_ops_task *task = a->host_ops;
    if (!task)
        return;
    vp_aside_wait(&task->aside);
    spans_free(&task->table.hidden);
    vp_free(task->table.v);
    vp_free(task->table.row_of_kind);
    vp_free(task->table.thread);
    vp_free(task->table.hidden_kind);
    vp_free(task);
    a->host_ops = NULL;
}
