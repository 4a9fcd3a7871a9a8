#include "trace/analyze/idle/idle.h"

#include <stdlib.h>

#include "trace/analyze/host/calls.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/links/run_launches.h"

typedef struct splitter {
    const idle_gap *g;
    const analysis *a;
    label_book *labels;
    int64_t from, to; /* of the gap on the host's clock, never empty */
    idle_fn *fn;
    void *ctx;
} splitter;

static inline int64_t to_device(const splitter *s, int64_t t)
{
    int64_t length = s->g->end - s->g->start, host = s->to - s->from;
    if (length == host)
        return s->g->start + (t - s->from);
    return s->g->start + (int64_t)((__int128)(t - s->from) * length / host);
}

static int split_give_piece(const splitter *s, int64_t from, int64_t to, vp_cause cause,
                            vp_sid name, uint32_t thread, uint32_t user)
{
    idle_piece p = {to_device(s, from), to_device(s, to), cause, name, thread, user};
    return p.end > p.start ? s->fn(s->ctx, &p) : 0;
}

/* Assigns this part of the gap to `cause`, except where an item of the list explains it better. */
static int give_over(const splitter *s, const overlay_list *list, vp_cause over, int64_t from,
                     int64_t to, const idle_piece *p)
{
    for (size_t i = overlays_seek(list, from); i < list->n && list->v[i].start < to; i++) {
        const overlay *x = &list->v[i];
        int64_t start = x->start > from ? x->start : from, end = x->end < to ? x->end : to;
        VP_TRY(split_give_piece(s, from, start, p->cause, p->label, p->thread, p->user));
        VP_TRY(split_give_piece(s, start, end, over, x->name ? x->name : p->label,
                                x->name ? x->thread : p->thread, x->name ? IDLE_NO_USER : p->user));
        from = end;
    }
    return split_give_piece(s, from, to, p->cause, p->label, p->thread, p->user);
}

/* The relation of a gap to the host. LATE: the launch was late, so the activity of its thread is
 * the cause. TAKEN: no launch is known, and the host is assumed to be the cause. IN_RUN: the gap is
 * within a module's run, so the host is not the cause. */
typedef enum host_link { LATE, TAKEN, IN_RUN } host_link;

/* The cause of a label. If the thread is late anyway, being inside an Execute is plain host work.
 */
static vp_cause cause_under(const label *l, host_link link)
{
    if (link == IN_RUN && l->cause != VP_CAUSE_CALLBACK)
        return VP_CAUSE_LATENCY;
    return link == LATE && l->cause == VP_CAUSE_CALL ? VP_CAUSE_HOST : l->cause;
}

static vp_cause cause_alone(host_link link)
{
    return link == LATE ? VP_CAUSE_HOST : link == TAKEN ? VP_CAUSE_UNKNOWN : VP_CAUSE_LATENCY;
}

/* Assigns a labeled part to its cause, unless other threads or devices explain it better. */
static int give_label(const splitter *s, int64_t from, int64_t to, const idle_piece *p,
                      host_link link)
{
    if (p->cause == VP_CAUSE_SYNC && link != IN_RUN)
        return give_over(s, labels_busy(s->labels), VP_CAUSE_PEER, from, to, p);
    if (p->cause == VP_CAUSE_HOST || (p->cause == VP_CAUSE_CALL && link == TAKEN))
        return give_over(s, labels_copies(s->labels), VP_CAUSE_TRANSFER, from, to, p);
    return split_give_piece(s, from, to, p->cause, p->label, p->thread, p->user);
}

static int give_alone(const splitter *s, int64_t from, int64_t to, host_link link)
{
    const idle_piece p = {
        .cause = cause_alone(link), .thread = IDLE_NO_THREAD, .user = IDLE_NO_USER};
    if (link == IN_RUN)
        return split_give_piece(s, from, to, p.cause, 0, IDLE_NO_THREAD, IDLE_NO_USER);
    return give_over(s, labels_copies(s->labels), VP_CAUSE_TRANSFER, from, to, &p);
}

static int by_main(const splitter *s, int64_t from, int64_t to, host_link link);

/* Assigns a part of the gap for which this thread has no label: to the main thread's labels, else
 * to none. */
static int give_unlabelled(const splitter *s, int64_t from, int64_t to, uint32_t thread,
                           host_link link)
{
    if (from >= to)
        return 0;
    if (thread != labels_main(s->labels))
        return by_main(s, from, to, link);
    return give_alone(s, from, to, link);
}

static int by_labels(const splitter *s, int64_t from, int64_t to, uint32_t thread, host_link link)
{
    const label_list *list;
    VP_TRY(labels_of(&list, s->labels, thread));
    for (size_t i = labels_seek(list, from); i < list->n && list->v[i].start < to; i++) {
        const label *l = &list->v[i];
        int64_t start = l->start > from ? l->start : from, end = l->end < to ? l->end : to;
        VP_TRY(give_unlabelled(s, from, start, thread, link));
        vp_cause cause = cause_under(l, link);
        bool named = cause != VP_CAUSE_LATENCY;
        const idle_piece p = {.cause = cause,
                              .label = named ? l->name : 0,
                              .thread = named ? thread : IDLE_NO_THREAD,
                              .user = named ? l->user : IDLE_NO_USER};
        VP_TRY(give_label(s, start, end, &p, link));
        from = end;
    }
    return give_unlabelled(s, from, to, thread, link);
}

static int by_main(const splitter *s, int64_t from, int64_t to, host_link link)
{
    uint32_t thread = labels_main(s->labels);
    if (thread != UINT32_MAX)
        return by_labels(s, from, to, thread, link);
    return give_alone(s, from, to, link);
}

static int64_t clamp_time(int64_t t, int64_t low, int64_t high)
{
    return t < low ? low : t > high ? high : t;
}

/* The launch is known (docs/reference/metrics.md#idle-gaps): late up to the start of the call, in
 * the call, then latency. The three parts make up the gap. *after: where latency begins. */
static int by_launch(const splitter *s, uint32_t track, size_t event, int64_t *after)
{
    const trace_track *k = &s->a->t->tracks[track];
    vp_sid name = s->a->t->kinds[trace_kind_of(k, event)].name;
    int64_t begin = clamp_time(trace_start(k, event), s->from, s->to);
    int64_t end = clamp_time(trace_end(k, event), begin, s->to);
    if (begin > s->from)
        VP_TRY(by_labels(s, s->from, begin, track, LATE));
    *after = end;
    return split_give_piece(s, begin, end, VP_CAUSE_CALL, name, track, IDLE_NO_USER);
}

static int by_call(const splitter *s, uint32_t call)
{
    const host_call *c = &s->a->calls->call[call];
    int64_t after;
    VP_TRY(by_launch(s, c->track, c->index, &after));
    return split_give_piece(s, after, s->to, VP_CAUSE_LATENCY, 0, IDLE_NO_THREAD, IDLE_NO_USER);
}

/* A run on XLA:CPU waits for the copies of its arguments after its launch. */
static int by_run(const splitter *s, const module_run *run)
{
    const idle_piece waits = {
        .cause = VP_CAUSE_LATENCY, .thread = IDLE_NO_THREAD, .user = IDLE_NO_USER};
    int64_t after;
    VP_TRY(by_launch(s, run->launch_track, run->launch_event, &after));
    return give_over(s, labels_copies(s->labels), VP_CAUSE_TRANSFER, after, s->to, &waits);
}

/* The run that begins where the gap ends, if its launch is known. NULL: another op ends the gap. */
static const module_run *run_of_gap(const idle_gap *g, const analysis *a)
{
    if (g->next.index == SIZE_MAX || g->in_run)
        return NULL;
    const module_run *run = run_launches_find(a->runs, &a->t->tracks[g->next.track], g->next.index);
    return run && run->launch_track != TRACE_NO_TRACK && !run->is_inline ? run : NULL;
}

uint32_t idle_launch(const idle_gap *g, const analysis *a)
{
    if (g->next.index == SIZE_MAX)
        return UINT32_MAX;
    return calls_find(a->calls, &a->t->tracks[g->next.track], g->next.index);
}

/* The start of the gap on the host's clock. A gap that is empty there counts as its last
 * picosecond. */
static int64_t gap_begin_on_host(const idle_gap *g)
{
    return g->from < g->to ? g->from : g->to - 1;
}

int idle_split(const idle_gap *g, const analysis *a, label_book *labels, idle_fn *fn, void *ctx)
{
    splitter s = {g, a, labels, gap_begin_on_host(g), g->to, fn, ctx};
    uint32_t call = idle_launch(g, a);
    const module_run *run = call == UINT32_MAX ? run_of_gap(g, a) : NULL;
    if (run)
        return by_run(&s, run);
    return call != UINT32_MAX ? by_call(&s, call)
                              : by_main(&s, s.from, s.to, g->in_run ? IN_RUN : TAKEN);
}

/* Gaps closer than this are requested together with the time between them, which usually has the
 * same labels, to reduce their number. */
#define ASKED_APART_PS INT64_C(10000000) /* 10 us */

int idle_asks(spans *asked, const idle_gap *g, const analysis *a)
{
    uint32_t call = idle_launch(g, a);
    int64_t from = gap_begin_on_host(g), to = g->to;
    if (call != UINT32_MAX)
        to = clamp_time(call_start(a->calls, a->t, call), from, to);
    return spans_add_near(asked, from, to, ASKED_APART_PS);
}

void idle_sums_init(idle_sums *s)
{
    *s = (idle_sums){0};
    vp_map_init(&s->by_key);
}

void idle_sums_free(idle_sums *s)
{
    vp_free(s->v);
    vp_map_free(&s->by_key);
}

int idle_sums_add(idle_sums *s, const idle_piece *p, int64_t gap)
{
    /* fits: VP_TRACKS_MAX is below 2^20, VP_INTERN_MAX below 2^31 */
    uint64_t thread = p->thread == IDLE_NO_THREAD ? 0xfffff : p->thread;
    uint64_t key = (uint64_t)p->label << 24 | thread << 4 | (unsigned)p->cause;
    uint32_t i = vp_map_get(&s->by_key, key);
    if (i == VP_MAP_NONE) {
        i = (uint32_t)s->n;
        VP_TRY(vp_grow(&s->v, &s->cap, s->n + 1, sizeof *s->v, UINT32_MAX - 1));
        VP_TRY(vp_map_set(&s->by_key, key, i));
        s->v[s->n++] = (idle_sum){p->cause, p->label, p->thread, 0, 0, -1, IDLE_NO_USER, 0};
    }
    if (p->user != IDLE_NO_USER && p->end - p->start > s->v[i].user_ps) {
        s->v[i].user = p->user;
        s->v[i].user_ps = p->end - p->start;
    }
    s->v[i].total_ps += p->end - p->start;
    s->v[i].gaps += s->v[i].last_gap != gap;
    s->v[i].last_gap = gap;
    return 0;
}

static int by_total(const void *a, const void *b)
{
    const idle_sum *x = a, *y = b;
    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    if (x->cause != y->cause)
        return x->cause < y->cause ? -1 : 1;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

void idle_sums_sort(idle_sums *s)
{
    if (s->n)
        qsort(s->v, s->n, sizeof *s->v, by_total);
}
