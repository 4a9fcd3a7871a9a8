#include "trace/analyze/idle/labels.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "trace/analyze/device/any_device.h"
#include "trace/analyze/device/device_sums.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/steps/step_signs.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"
#include "trace/base/thread.h"

struct label_book {
    const analysis *a;
    const spans *asked;
    label_list *lists; /* by track */
    _Atomic bool *made;
    pthread_mutex_t making;
    uint32_t main;
    overlay_list copies, busy;
};

/* An open span, with the combined cause and name of it and all enclosing spans. */
typedef struct open_span {
    int64_t end;
    vp_sid name;
    vp_cause cause;
    uint32_t user; /* kind of the innermost frame of the user's; UINT32_MAX */
    bool solid;    /* the name is final; otherwise a nested span may give a better one */
    bool profiler;
    bool context; /* it or an enclosing span enters or leaves a context manager */
    bool pull;    /* INPUT only by HK_PULL: a nested span with an input name gives a better name */
} open_span;

typedef struct walk {
    const trace *t;
    const host_kinds *kinds;
    const trace_track *k;
    label_list *out;
    const spans *asked;
    size_t asked_at; /* the first requested time that ends after the current event's start */
    open_span *v;
    size_t n, cap;
    int64_t now;
    size_t next_step, next_launch; /* the first such event after the current one */
} walk;

#define LEADS_TO_DEVICE (HK_CALL | HK_EXECUTE | HK_LAUNCH)

bool labels_is_step(const trace *t, const host_kinds *kinds, const trace_track *k, size_t event)
{
    if (host_kind_flags(kinds, trace_kind_of(k, event)) & HK_STEP)
        return true;
    if (!k->attr[SINK_ROOT]) /* XLA's JSON lacks it */
        return step_is_numbered(t, k, event);
    return trace_attr(k, SINK_STEP, event) != SINK_NO_VALUE && step_is_root(k, event);
}

static bool is_launch(const walk *w, size_t i)
{
    return host_kind_flags(w->kinds, trace_kind_of(w->k, i)) & LEADS_TO_DEVICE;
}

/* The first event from i on that may be a step (or a launch). */
static size_t next_candidate(const walk *w, bool step, size_t i)
{
    size_t marked = host_marked_from(w->kinds, w->k, i);
    size_t told = step ? trace_column_next(w->k->attr[SINK_STEP], i) : SIZE_MAX;
    return marked < told ? marked : told;
}

/* True if span i contains a step (or a launch): events are sorted by start, so it does if the next
 * one starts before the span ends. *next only moves forward, over all calls together. */
static bool span_contains(const walk *w, size_t *next, bool step, size_t i, int64_t end)
{
    if (*next <= i)
        *next = next_candidate(w, step, i + 1);
    while (*next < w->k->count &&
           !(step ? labels_is_step(w->t, w->kinds, w->k, *next) : is_launch(w, *next)))
        *next = next_candidate(w, step, *next + 1);
    return *next < w->k->count && trace_start(w->k, *next) < end;
}

/* Spans that lead to device work. They are not the cause of a wait: the cause is a span inside
 * them, if there is one. */
static bool is_transparent(walk *w, size_t i, int64_t end)
{
    uint32_t flags = host_kind_flags(w->kinds, trace_kind_of(w->k, i));
    return (flags & HK_CALL) || span_contains(w, &w->next_step, true, i, end) ||
           ((flags & HK_PYTHON) && span_contains(w, &w->next_launch, false, i, end));
}

static unsigned cause_rank(vp_cause c)
{
    return c == VP_CAUSE_CALL ? VP_CAUSE_HOST : c == VP_CAUSE_HOST ? VP_CAUSE_CALL : c;
}

/* Items that other work takes from iterators are part of that work, unless it waits for them. */
#define PULL_MIN_PS (100 * (int64_t)1000000)

/* True if span i takes the next item of an iterator or a queue, and launches nothing. */
static bool is_pull(walk *w, const open_span *around, size_t i, int64_t end)
{
    return (host_kind_flags(w->kinds, trace_kind_of(w->k, i)) & HK_PULL) && !around->context &&
           !(around->solid && trace_dur(w->k, i) < PULL_MIN_PS) &&
           !span_contains(w, &w->next_launch, false, i, end);
}

static vp_cause cause_of(walk *w, const open_span *around, size_t i, int64_t end)
{
    vp_cause c = host_kind_cause(w->kinds, trace_kind_of(w->k, i));
    if (c != VP_CAUSE_HOST)
        return c;
    if (is_pull(w, around, i, end))
        return VP_CAUSE_INPUT;
    return host_kind_flags(w->kinds, trace_kind_of(w->k, i)) & HK_EXECUTE ? VP_CAUSE_CALL : c;
}

static open_span open_span_inside(walk *w, const open_span *around, size_t i, int64_t end)
{
    uint32_t kind = trace_kind_of(w->k, i), flags = host_kind_flags(w->kinds, kind);
    vp_cause cause = cause_of(w, around, i, end);
    open_span s = *around;
    s.end = end;
    s.user = flags & HK_USER ? kind : s.user;
    s.context = s.context || (flags & HK_CONTEXT);
    if (s.profiler)
        return s;
    if (flags & HK_PROFILER) {
        s.name = 0;
        s.cause = VP_CAUSE_UNKNOWN;
        s.profiler = true;
    } else if (cause_rank(cause) < cause_rank(s.cause) || (s.pull && (flags & HK_INPUT))) {
        s.name = w->t->kinds[kind].name;
        s.cause = cause;
        s.solid = true;
        s.pull = cause == VP_CAUSE_INPUT && !(flags & HK_INPUT);
    } else if (s.pull && (flags & HK_USER)) {
        s.name = w->t->kinds[kind].name; /* the generator that is asked for the next */
        s.pull = false;
    } else if (cause != VP_CAUSE_HOST || s.cause != VP_CAUSE_HOST) {
        return s;
    } else if (labels_is_step(w->t, w->kinds, w->k, i)) {
        s.name = 0;
        s.solid = false;
    } else if (!s.solid) {
        s.name = w->t->kinds[kind].name;
        s.solid = !is_transparent(w, i, end);
    }
    return s;
}

static int label_list_put(walk *w, int64_t start, int64_t end, const open_span *s)
{
    label_list *l = w->out;
    label *last = l->n ? &l->v[l->n - 1] : NULL;
    if (last && last->end == start && last->name == s->name && last->cause == s->cause) {
        last->end = end;
        if (last->user == s->user) {
            last->user_ps += end - start;
        } else if (s->user != UINT32_MAX && end - start > last->user_ps) {
            last->user = s->user;
            last->user_ps = end - start;
        }
        return 0;
    }
    VP_TRY(vp_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v, (size_t)VP_EVENTS_MAX * 2));
    l->v[l->n++] =
        (label){start, end, s->name, s->cause, s->user, s->user == UINT32_MAX ? 0 : end - start};
    return 0;
}

static int run_until(walk *w, int64_t t)
{
    while (w->n && w->now < t) {
        const open_span *top = &w->v[w->n - 1];
        if (top->end <= w->now) {
            w->n--;
            continue;
        }
        int64_t to = top->end < t ? top->end : t;
        VP_TRY(label_list_put(w, w->now, to, top));
        w->now = to;
    }
    if (w->now < t)
        w->now = t;
    return 0;
}

/* Maximum number of open spans to search, from the innermost outwards, for one that contains a
 * span: Perfetto's nesting limit. It bounds the work on spans that all overlap each other. */
#define SEARCH_MAX 512u

/* The innermost open span that contains one which ends at `end`. A span that outlives the one it
 * starts in is not inside it. */
static open_span innermost_span_around(const walk *w, int64_t end)
{
    for (size_t i = w->n; i-- > 0 && w->n - i <= SEARCH_MAX;)
        if (w->v[i].end >= end)
            return w->v[i];
    return (open_span){.end = INT64_MAX, .cause = VP_CAUSE_HOST, .user = UINT32_MAX};
}

/* True if a span overlaps a requested time. Otherwise no nested span does, so leaving it out
 * changes nothing. Events are sorted by start. */
static bool is_asked(walk *w, int64_t start, int64_t end)
{
    const spans *asked = w->asked;
    while (w->asked_at < asked->n && asked->v[w->asked_at].end <= start)
        w->asked_at++;
    return w->asked_at < asked->n && asked->v[w->asked_at].start < end;
}

static int flatten_labels(walk *w)
{
    int64_t last = w->k->count ? trace_start(w->k, 0) : 0;
    w->now = last;
    for (size_t i = 0; i < w->k->count; i++) {
        int64_t start = trace_start(w->k, i), end = start + trace_dur(w->k, i);
        if (end == start || !is_asked(w, start, end) ||
            (host_kind_flags(w->kinds, trace_kind_of(w->k, i)) & HK_NOISE))
            continue;
        VP_TRY(run_until(w, start));
        open_span outer = innermost_span_around(w, end), s = open_span_inside(w, &outer, i, end);
        VP_TRY(vp_grow(&w->v, &w->cap, w->n + 1, sizeof *w->v, VP_EVENTS_MAX));
        w->v[w->n++] = s;
        last = end > last ? end : last;
    }
    return run_until(w, last);
}

/* Counts the signs that a thread drives the devices, the best sign first. Threads are compared by
 * the best sign that any of them has, and then by its count. */
static void weigh_main_thread(const label_book *b, const trace_track *k, uint64_t count[4])
{
    const trace_column *steps = k->attr[SINK_STEP];
    for (size_t i = host_marked_from(b->a->kinds, k, 0); i < k->count;
         i = host_marked_from(b->a->kinds, k, i + 1)) {
        uint32_t f = host_kind_flags(b->a->kinds, trace_kind_of(k, i));
        count[0] += (f & HK_STEP) != 0;
        count[1] += (f & HK_CALL) != 0;
        count[2] += (f & HK_EXECUTE) != 0;
        count[3] += (f & HK_LAUNCH) != 0;
    }
    for (size_t i = trace_column_next(steps, 0); i < k->count; i = trace_column_next(steps, i + 1))
        count[0] += !(host_kind_flags(b->a->kinds, trace_kind_of(k, i)) & HK_STEP) &&
                    labels_is_step(b->a->t, b->a->kinds, k, i);
}

static uint32_t find_main(const label_book *b)
{
    uint32_t best = UINT32_MAX;
    uint64_t most[4] = {0};
    for (uint32_t i = 0; i < b->a->t->track_count; i++) {
        uint64_t count[4] = {0};
        if (b->a->t->tracks[i].role != SINK_ROLE_PLAIN)
            continue;
        weigh_main_thread(b, &b->a->t->tracks[i], count);
        size_t c = 0;
        while (c < 3 && count[c] == 0 && most[c] == 0)
            c++;
        if (count[c] > most[c]) {
            best = i;
            for (c = 0; c < 4; c++)
                most[c] = count[c];
        }
    }
    return best;
}

/* ---- What other threads and devices do meanwhile ---- */

static int add_overlay(overlay_list *l, const overlay *x)
{
    VP_TRY(vp_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v, VP_EVENTS_MAX));
    l->v[l->n++] = *x;
    return 0;
}

static int by_overlay_start(const void *a, const void *b)
{
    const overlay *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

/* If intervals overlap, the time belongs to the one that began first. */
static void make_disjoint(overlay_list *l)
{
    size_t n = 0;
    int64_t reach = INT64_MIN;
    vp_put_in_order(l->v, l->n, sizeof *l->v, by_overlay_start);
    for (size_t i = 0; i < l->n; i++) {
        overlay x = l->v[i];
        x.start = x.start > reach ? x.start : reach;
        if (x.end <= x.start)
            continue;
        reach = x.end;
        l->v[n++] = x;
    }
    l->n = n;
}

/* Copies of all threads, except calls that wait for a result and then copy it (np.asarray off the
 * CPU), which spend most of their time waiting. */
static int find_copies(label_book *b)
{
    const host_kinds *kinds = b->a->kinds;
    size_t near = 0;
    for (uint32_t i = 0; i < b->a->t->track_count; i++) {
        const trace_track *k = &b->a->t->tracks[i];
        if (k->role != SINK_ROLE_PLAIN)
            continue;
        for (size_t e = host_marked_from(kinds, k, 0); e < k->count;
             e = host_marked_from(kinds, k, e + 1)) {
            uint32_t flags = host_kind_flags(kinds, trace_kind_of(k, e));
            if (!(flags & HK_TRANSFER) || (flags & (HK_BLOCKING | HK_LAUNCH)) == HK_BLOCKING)
                continue;
            overlay x = {trace_start(k, e), trace_end(k, e),
                         b->a->t->kinds[trace_kind_of(k, e)].name, i};
            if (spans_cut(b->asked, x.start, x.end, &near) > 0)
                VP_TRY(add_overlay(&b->copies, &x));
        }
    }
    make_disjoint(&b->copies);
    return 0;
}

/* Times at which any device works. Only used while one device idles, so another one works. */
static int find_busy(label_book *b)
{
    const spans *busy;
    size_t near = 0;
    if (b->a->device_count < 2)
        return 0;
    VP_TRY(any_device_busy(&busy, b->a));
    for (size_t i = 0; i < busy->n; i++) {
        const overlay x = {busy->v[i].start, busy->v[i].end, 0, 0};
        if (spans_cut(b->asked, x.start, x.end, &near) > 0)
            VP_TRY(add_overlay(&b->busy, &x));
    }
    return 0;
}

const overlay_list *labels_copies(const label_book *b)
{
    return &b->copies;
}

const overlay_list *labels_busy(const label_book *b)
{
    return &b->busy;
}

size_t overlays_seek(const overlay_list *list, int64_t from)
{
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (list->v[mid].end <= from)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The searches in all threads and devices, which are independent of each other. */
#define PARTS 3u
static int look_labels_part(void *ctx, uint32_t part)
{
    label_book *b = ctx;
    if (part == 0)
        return find_busy(b);
    if (part == 1)
        return find_copies(b);
    b->main = find_main(b);
    return 0;
}

int labels_new(label_book **out, const analysis *a, const spans *asked)
{
    const trace *t = a->t;
    label_book *b = vp_calloc(1, sizeof *b);
    VP_NEED(b);
    *b = (label_book){.a = a, .asked = asked};
    pthread_mutex_init(&b->making, NULL);
    b->lists = vp_calloc((size_t)t->track_count + 1, sizeof *b->lists);
    b->made = vp_calloc((size_t)t->track_count + 1, sizeof *b->made);
    if (!b->lists || !b->made) {
        labels_free(b);
        return vp_no_memory();
    }
    int rc = vp_each(device_sums_threads(t), PARTS, look_labels_part, b);
    if (rc < 0)
        labels_free(b);
    else
        *out = b;
    return rc;
}

void labels_free(label_book *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; b->lists && i < b->a->t->track_count; i++)
        vp_free(b->lists[i].v);
    pthread_mutex_destroy(&b->making);
    vp_free(b->lists);
    vp_free(b->made);
    vp_free(b->copies.v);
    vp_free(b->busy.v);
    vp_free(b);
}

static int make_track_labels(label_book *b, uint32_t track)
{
    walk w = {.t = b->a->t,
              .kinds = b->a->kinds,
              .k = &b->a->t->tracks[track],
              .out = &b->lists[track],
              .asked = b->asked};
    int rc = flatten_labels(&w);
    vp_free(w.v);
    VP_TRY(rc);
    atomic_store_explicit(&b->made[track], true, memory_order_release);
    return 0;
}

int labels_of(const label_list **out, label_book *b, uint32_t track)
{
    *out = &b->lists[track];
    if (atomic_load_explicit(&b->made[track], memory_order_acquire))
        return 0;
    pthread_mutex_lock(&b->making);
    int rc = atomic_load(&b->made[track]) ? 0 : make_track_labels(b, track);
    pthread_mutex_unlock(&b->making);
    return rc;
}

size_t labels_seek(const label_list *list, int64_t from)
{
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (list->v[mid].end <= from)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

uint32_t labels_main(const label_book *b)
{
    return b->main;
}
