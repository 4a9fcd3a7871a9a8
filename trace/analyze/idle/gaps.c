#include "trace/analyze/idle/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "trace/analyze/device/device_sums.h"
#include "trace/analyze/device/ops.h"
#include "trace/analyze/host/calls.h"
#include "trace/analyze/idle/gap_list.h"
#include "trace/analyze/idle/step_idle.h"
#include "trace/analyze/result/order_statistics.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/freelist.h"
#include "trace/base/thread.h"

typedef struct finder finder;
/* of_device: the gap is in the device's window; else only in a step's window. */
typedef int gap_fn(finder *f, const idle_gap *g, bool of_device);

/* The gaps of one device. They are visited twice, first all devices and then all again: to find out
 * which labels are needed, and to account for them. */
struct finder {
    const analysis *a;
    gap_fn *on_gap;
    spans *asked;
    label_book *labels;
    uint32_t device;
    vp_device *d;
    bool any;         /* a segment was seen */
    int64_t last_end; /* of the last segment */
    idle_sums sums;   /* inside the device's window */
    gap_list longest;
    const trace_track *runs; /* of modules; NULL without */
    size_t run_n;            /* number of them that had begun before the previous gap */
    int64_t *idle_before;    /* by kind */
    step_idle steps;
    sweep_event before;  /* the op that ended at the start of the gap; index SIZE_MAX: none */
    const idle_gap *gap; /* the gap being accounted for */
    bool starved;        /* only the next op was queued in it */
    /* from the end of a launch to the start of its op, if the op found the device idle */
    int64_t usual_delay;
    int64_t *delays; /* of such launches */
    size_t delay_count, delay_cap;
    int64_t least_delay; /* the shortest before any gap */
};

/* The launch of the op that ends the gap. *late: its call ended inside the gap. *delay: from the
 * call's end to the op's start. false: unknown, or the previous op has the same call (a recorded
 * graph). */
static bool find_gap_launch(const finder *f, const idle_gap *g, bool *late, int64_t *delay)
{
    const trace *t = f->a->t;
    uint32_t call = idle_launch(g, f->a);
    if (call == UINT32_MAX ||
        (f->before.index != SIZE_MAX &&
         calls_find(f->a->calls, &t->tracks[f->before.track], f->before.index) == call))
        return false;
    int64_t end = call_end(f->a->calls, t, call);
    *late = end > g->from;
    *delay = g->to > end ? g->to - end : 0;
    return true;
}

/* A longer gap has another cause than a launch: code is loaded, or a queue is full. */
#define LAUNCH_MAX_PS INT64_C(1000000000) /* 1 ms */

/* True if only the op at the gap's end was queued (F9): the call ended inside the gap, or the op
 * began within twice the usual delay after it. An op that waited longer was queued after others in
 * the queue. */
static bool is_starved(const finder *f, const idle_gap *g)
{
    bool late;
    int64_t delay;
    return g->end - g->start < LAUNCH_MAX_PS && find_gap_launch(f, g, &late, &delay) &&
           (late || delay / 2 <= f->usual_delay);
}

static int learn_delay(finder *f, const idle_gap *g)
{
    bool late;
    int64_t delay;
    if (!find_gap_launch(f, g, &late, &delay))
        return 0;
    f->least_delay = delay < f->least_delay ? delay : f->least_delay;
    if (!late)
        return 0;
    VP_TRY(
        vp_grow(&f->delays, &f->delay_cap, f->delay_count + 1, sizeof *f->delays, VP_EVENTS_MAX));
    f->delays[f->delay_count++] = delay;
    return 0;
}

/* The median of the delays. If every op was launched before the device became idle, the smallest
 * delay. */
static int64_t usual_delay(const finder *f)
{
    return f->delay_count ? select_kth(f->delays, f->delay_count, nearest_rank(f->delay_count, 50))
                          : f->least_delay;
}

static int account_idle_piece(void *ctx, const idle_piece *p)
{
    finder *f = ctx;
    vp_launch *l = &f->d->launch;
    l->starved_call_ps += f->starved && p->cause == VP_CAUSE_CALL ? p->end - p->start : 0;
    l->starved_latency_ps += f->starved && p->cause == VP_CAUSE_LATENCY ? p->end - p->start : 0;
    f->d->cause_ps[p->cause] += p->end - p->start;
    VP_TRY(step_idle_add(&f->steps, p));
    const host_watch *w = &f->a->watch;
    if (w->idle)
        VP_TRY(w->idle(w->ctx, f->a, f->device, f->gap, p));
    return idle_sums_add(&f->sums, p, f->d->gap_count);
}

static int account_to_steps(void *ctx, const idle_piece *p)
{
    finder *f = ctx;
    return step_idle_add(&f->steps, p);
}

static int finder_ask_gap(finder *f, const idle_gap *g, bool of_device)
{
    if (of_device)
        VP_TRY(learn_delay(f, g));
    return idle_asks(f->asked, g, f->a);
}

static int account_gap(finder *f, const idle_gap *g, bool of_device)
{
    if (!of_device)
        return idle_split(g, f->a, f->labels, account_to_steps, f);
    f->d->gap_count++;
    f->starved = is_starved(f, g);
    f->gap = g;
    if (g->next.index != SIZE_MAX) {
        const trace_track *k = &f->a->t->tracks[g->next.track];
        f->idle_before[trace_kind_of(k, g->next.index)] += g->end - g->start;
    }
    gap_list_offer(&f->longest, g);
    return idle_split(g, f->a, f->labels, account_idle_piece, f);
}

/* True if both ops are of one run, by the run ids of XLA:CPU. */
static bool same_run(const trace *t, sweep_event before, sweep_event next)
{
    int64_t run = trace_attr(&t->tracks[next.track], SINK_RUN, next.index);
    return before.index != SIZE_MAX && run != SINK_NO_VALUE &&
           run == trace_attr(&t->tracks[before.track], SINK_RUN, before.index);
}

/* The number of the first `high` runs that begin by then, given that the first `low` do. */
static size_t runs_begun(const trace_track *runs, size_t low, size_t high, int64_t then)
{
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (trace_aligned_start(runs, mid) <= then)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* True if the gap is within one run: TPUs have a line of runs, on the host's clock. Gaps are
 * sorted, so usually it is the run of the previous gap, or the next. */
static bool inside_a_run(finder *f, int64_t from, int64_t to)
{
    const trace_track *runs = f->runs;
    size_t n = f->run_n, count = runs->count;
    if (n && trace_aligned_start(runs, n - 1) > from)
        n = runs_begun(runs, 0, n - 1, from);
    else if (n < count && trace_aligned_start(runs, n) <= from)
        n = n + 1 < count && trace_aligned_start(runs, n + 1) <= from
                ? runs_begun(runs, n + 2, count, from)
                : n + 1;
    f->run_n = n;
    return n && to <= trace_aligned_end(runs, n - 1);
}

static bool in_run(finder *f, const sweep_segment *s, const idle_gap *g)
{
    if (f->d->kind == VP_DEVICE_CPU)
        return same_run(f->a->t, s->before, s->next);
    return f->runs && inside_a_run(f, g->from, g->to);
}

/* The gap between two ops, which is also between them on the host's clock. */
static idle_gap gap_of(const finder *f, const sweep_segment *s)
{
    idle_gap g = {s->start, s->end, s->start, s->end, s->next, false};
    if (!f->d->own_clock)
        return g;
    g.to = trace_aligned_start(&f->a->t->tracks[s->next.track], s->next.index);
    g.from = g.to - (g.end - g.start);
    if (s->before.index != SIZE_MAX)
        g.from = trace_aligned_end(&f->a->t->tracks[s->before.track], s->before.index);
    return g;
}

/* The range in which the device is analyzed; false: none. For a part of a trace that is the
 * device's window. Otherwise steps may begin before the device's first op and end after its last,
 * and idle time there belongs to the steps and not to the window. On a device with its own clock,
 * steps begin and end at ops. */
static bool extent_of(const finder *f, int64_t *start, int64_t *end, bool *of_device)
{
    const trace_process *p = &f->a->t->processes[f->a->devices[f->device].process];
    *of_device = p->part_start_ps != SINK_NO_TIME;
    if (!*of_device)
        return !f->d->own_clock && step_idle_extent(&f->steps, start, end);
    *start = p->part_start_ps;
    *end = p->part_end_ps;
    return true;
}

static int lead_in(finder *f, int64_t first)
{
    const device_work *w = &f->a->devices[f->device];
    idle_gap g = {.end = first, .to = first, .next = {0, SIZE_MAX}};
    int64_t end;
    bool of_device;
    if (!extent_of(f, &g.start, &end, &of_device) || g.start >= first)
        return 0;
    for (size_t i = 0; i < w->set.count; i++)
        if (f->a->t->tracks[w->set.tracks[i]].count &&
            trace_start(&f->a->t->tracks[w->set.tracks[i]], 0) == first)
            g.next = (sweep_event){w->set.tracks[i], 0};
    if (f->d->own_clock)
        g.to = trace_aligned_start(&f->a->t->tracks[g.next.track], g.next.index);
    g.from = g.to - (g.end - g.start);
    return f->on_gap(f, &g, of_device);
}

/* The end of the device's last op, on the host's clock. */
static int64_t aligned_end(const finder *f)
{
    const track_set *set = &f->a->devices[f->device].set;
    int64_t last = INT64_MIN;
    for (size_t i = 0; f->d->own_clock && i < set->count; i++) {
        const trace_track *k = &f->a->t->tracks[set->tracks[i]];
        int64_t end = k->count ? trace_aligned_end(k, k->count - 1) : INT64_MIN;
        last = end > last ? end : last;
    }
    return f->d->own_clock ? last : f->last_end;
}

static int lead_out(finder *f)
{
    idle_gap g = {.start = f->last_end, .next = {0, SIZE_MAX}};
    int64_t start;
    bool of_device;
    if (!extent_of(f, &start, &g.end, &of_device) || (!f->any && !of_device))
        return 0;
    if (!f->any) /* the device is idle in this part of the trace */
        g.start = start;
    if (g.end <= g.start)
        return 0;
    g.from = f->any ? aligned_end(f) : g.start;
    g.to = g.from + (g.end - g.start);
    return f->on_gap(f, &g, of_device);
}

/* Each gap is a separate segment, even if it directly follows another: between them is an op
 * without a duration, which had to be launched, too. */
static int finder_on_segment(void *ctx, const sweep_segment *s)
{
    finder *f = ctx;
    if (!f->any)
        VP_TRY(lead_in(f, s->start));
    f->any = true;
    f->last_end = s->end;
    f->before = s->before;
    if (s->cover)
        return 0;
    idle_gap g = gap_of(f, s);
    g.in_run = in_run(f, s, &g);
    return f->on_gap(f, &g, true);
}

static int find_gaps(finder *f)
{
    const device_work *w = &f->a->devices[f->device];
    VP_TRY(sweep_run(w->set, grouping_sweep_classes(f->a->g), finder_on_segment, f));
    return lead_out(f);
}

static const trace_track *module_track_of_device(const analysis *a, uint32_t device)
{
    TRACE_EACH_OF(a->t, a->devices[device].process, i)
    if (a->t->tracks[i].role == SINK_ROLE_MODULES)
        return &a->t->tracks[i];
    return NULL;
}

static finder finder_of(const analysis *a, uint32_t device, gap_fn *on_gap)
{
    return (finder){.a = a,
                    .on_gap = on_gap,
                    .device = device,
                    .d = &a->h->devices[device],
                    .runs = module_track_of_device(a, device),
                    .before = {0, SIZE_MAX},
                    .least_delay = INT64_MAX,
                    .steps = step_idle_of(a, device)};
}

/* Idle time before ops, by the kind of the op, while one device is processed. All zero between
 * devices. */
typedef struct before_workspace {
    vp_freelist_item item;
    int64_t ps[];
} before_workspace;

/* Number of devices that are processed before their results are emitted, in order. */
#define DEVICES_AT_ONCE 64u

/* State of the second visit of the gaps, each device on a thread. */
typedef struct accounting {
    analysis *a;
    label_book *labels;
    const int64_t *usual; /* by device */
    finder *finders;      /* for the devices from `first` on */
    uint32_t first;
    vp_freelist workspaces;
    pthread_mutex_t lock; /* guards the following members, and ops_by_group */
    int64_t *before_all;  /* over all devices, by kind */
} accounting;

static before_workspace *take_workspace(accounting *x)
{
    before_workspace *r = vp_freelist_take(&x->workspaces);
    return r ? r : vp_calloc(1, sizeof *r + (x->a->t->kind_count + (size_t)1) * sizeof *r->ps);
}

/* Adds the idle time before ops to the ops and, over all devices, to the kinds, of which scopes are
 * made; and returns the workspace. */
static void spread_idle_before(accounting *x, uint32_t device, before_workspace *r)
{
    analysis *a = x->a;
    const uint32_t *group_of = grouping_groups(a->g);
    const kind_list *l = &a->devices[device].times;
    pthread_mutex_lock(&x->lock);
    const uint32_t *op = ops_by_group(a, device);
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t k = l->kind[i];
        if (!r->ps[k])
            continue;
        a->h->ops[op[group_of[k]]].idle_before_ps += r->ps[k];
        x->before_all[k] += r->ps[k];
        r->ps[k] = 0;
    }
    pthread_mutex_unlock(&x->lock);
    vp_freelist_give(&x->workspaces, r);
}

static int account_device(void *ctx, uint32_t i)
{
    accounting *x = ctx;
    before_workspace *r = take_workspace(x);
    finder *f = &x->finders[i];
    VP_NEED(r);
    *f = finder_of(x->a, x->first + i, account_gap);
    f->labels = x->labels;
    f->usual_delay = x->usual[f->device];
    f->idle_before = r->ps;
    idle_sums_init(&f->sums);
    step_idle_open(&f->steps, &x->a->h->packed, f->device);
    int rc = step_idle_close(&f->steps, &x->a->h->packed, f->device, find_gaps(f));
    spread_idle_before(x, f->device, r);
    return rc;
}

static int finder_emit(finder *f, analysis *a)
{
    VP_TRY(gap_list_emit(&f->longest, a, f->labels, f->device, ops_by_group(a, f->device)));
    return gap_labels_emit(&f->sums, a, f->device);
}

/* The watch callback gets the gaps of one device after another. */
static int account_some(accounting *x, uint32_t n)
{
    int threads = x->a->watch.idle ? 1 : device_sums_threads(x->a->t);
    memset(x->finders, 0, n * sizeof *x->finders);
    int rc = vp_each(threads, n, account_device, x);
    for (uint32_t i = 0; i < n; i++) {
        rc = rc < 0 ? rc : finder_emit(&x->finders[i], x->a);
        idle_sums_free(&x->finders[i].sums);
    }
    return rc;
}

static int account_all(accounting *x)
{
    analysis *a = x->a;
    for (; x->first < a->device_count; x->first += DEVICES_AT_ONCE) {
        size_t left = a->device_count - x->first;
        VP_TRY(account_some(x, left < DEVICES_AT_ONCE ? (uint32_t)left : DEVICES_AT_ONCE));
    }
    gap_list_sort(a->h);
    return scopes_idle(a->h, a->t, x->before_all);
}

static int all_devices(analysis *a, label_book *labels, const int64_t *usual)
{
    VP_CLEANUP(vp_free_ptr) int64_t *before = vp_calloc(a->t->kind_count + 1, sizeof *before);
    VP_CLEANUP(vp_free_ptr) finder *finders = vp_calloc(DEVICES_AT_ONCE, sizeof *finders);
    VP_NEED(before && finders);
    accounting x = {
        .a = a, .labels = labels, .usual = usual, .finders = finders, .before_all = before};
    pthread_mutex_init(&x.lock, NULL);
    vp_freelist_init(&x.workspaces);
    int rc = account_all(&x);
    for (before_workspace *r; (r = vp_freelist_take(&x.workspaces));)
        vp_free(r);
    vp_freelist_end(&x.workspaces);
    pthread_mutex_destroy(&x.lock);
    return rc;
}

typedef struct asking {
    const analysis *a;
    spans *asked;   /* by device */
    int64_t *usual; /* by device */
} asking;

static int ask_device(void *ctx, uint32_t device)
{
    asking *x = ctx;
    finder f = finder_of(x->a, device, finder_ask_gap);
    f.asked = &x->asked[device];
    int rc = find_gaps(&f);
    x->usual[device] = usual_delay(&f);
    vp_free(f.delays);
    return rc < 0 ? rc : spans_union(f.asked);
}

/* The union of n unions, in v[0]: adjacent ones are united first, so that each is copied log n
 * times. */
static int unite_all(spans *v, size_t n)
{
    for (size_t step = 1; step < n; step *= 2)
        for (size_t i = 0; i + step < n; i += 2 * step) {
            VP_TRY(spans_unite(&v[i], &v[i + step]));
            spans_free(&v[i + step]);
        }
    return 0;
}

/* Without a device the processes replace it. The causes of their idle time are unknown, because
 * they consist of the host's events. */
static void all_unknown(host_result *h)
{
    for (size_t d = 0; d < h->device_count; d++)
        h->devices[d].cause_ps[VP_CAUSE_UNKNOWN] = h->devices[d].breakdown.idle_ps;
}

/* The results of gaps_ask for gaps_collect. */
struct gaps_asked {
    spans *when;    /* by device; after uniting all are in the first */
    int64_t *usual; /* by device */
};

int gaps_ask(analysis *a)
{
    size_t n = a->device_count;
    if (!a->h->has_devices)
        return 0;
    struct gaps_asked *g = a->gaps = vp_calloc(1, sizeof *g);
    VP_NEED(g);
    *g = (struct gaps_asked){vp_calloc(n + 1, sizeof *g->when), vp_calloc(n + 1, sizeof *g->usual)};
    VP_NEED(g->when && g->usual);
    asking x = {a, g->when, g->usual};
    return vp_each(device_sums_threads(a->t), (uint32_t)n, ask_device, &x);
}

static void forget_spans(const analysis *a)
{
    for (size_t d = 0; a->gaps->when && d < a->device_count; d++)
        spans_free(&a->gaps->when[d]);
}

void gaps_free(analysis *a)
{
    if (!a->gaps)
        return;
    forget_spans(a);
    vp_free(a->gaps->when);
    vp_free(a->gaps->usual);
    vp_free(a->gaps);
    a->gaps = NULL;
}

int gaps_collect(analysis *a)
{
    label_book *labels = NULL;
    if (!a->h->has_devices) {
        all_unknown(a->h);
        return 0;
    }
    int rc = unite_all(a->gaps->when, a->device_count);
    if (rc >= 0)
        rc = labels_new(&labels, a, &a->gaps->when[0]);
    if (rc >= 0)
        rc = all_devices(a, labels, a->gaps->usual);
    labels_free(labels);
    forget_spans(a); /* other analyses read `a` concurrently */
    return rc;
}
