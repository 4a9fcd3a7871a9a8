#include "trace/links/replay.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"

/* A launch that takes longer, and during which a run ends, waited for space in the device's queue.
 */
#define QUEUE_FULL_PS (INT64_C(300) * 1000000)

/* ---- Preparation ---- */

/* The thread that launches most runs. TRACE_NO_TRACK if some run's launch is unknown or on another
 * thread: one in twenty may be, at the edges of the recording. */
static int find_thread(replay *r, const trace *t)
{
    size_t most = 0;
    VP_CLEANUP(vp_free_ptr)
    size_t *launches = vp_calloc((size_t)t->track_count + 1, sizeof *launches);
    VP_NEED(launches);
    r->track = TRACE_NO_TRACK;
    for (size_t i = 0; i < r->runs->count; i++) {
        uint32_t track = r->runs->run[i].launch_track;
        if (track < t->track_count && ++launches[track] > most) {
            most = launches[track];
            r->track = track;
        }
    }
    if ((r->runs->count - most) * 20 > r->runs->count)
        r->track = TRACE_NO_TRACK;
    return 0;
}

static int number_queues(replay *r)
{
    vp_map at;
    vp_map_init(&at);
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < r->runs->count; i++) {
        uint32_t process = r->runs->run[i].process, queue = vp_map_get(&at, process);
        if (queue == VP_MAP_NONE) {
            queue = r->queues++;
            rc = vp_map_set(&at, process, queue);
        }
        r->queue[i] = queue;
    }
    vp_map_free(&at);
    return rc;
}

static int add_item(replay *r, const replay_item *x)
{
    VP_TRY(vp_grow(&r->item, &r->cap, r->count + 1, sizeof *r->item, VP_EVENTS_MAX));
    r->item[r->count++] = *x;
    return 0;
}

/* Runs by end. */
typedef struct run_ends {
    const run_launches *runs;
    struct run_ending {
        int64_t end_ps;
        uint32_t run;
    } * v;
    size_t n;
} run_ends;

static int by_ending(const void *a, const void *b)
{
    const struct run_ending *x = a, *y = b;
    return vp_order(x->end_ps, y->end_ps);
}

/* The last run that ends within (start, end]; NULL: none, so that nothing was waited for. */
static const struct run_ending *run_ending_within(const run_ends *e, int64_t start, int64_t end)
{
    size_t low = 0, high = e->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (e->v[mid].end_ps <= end)
            low = mid + 1;
        else
            high = mid;
    }
    return low && e->v[low - 1].end_ps > start ? &e->v[low - 1] : NULL;
}

static int add_wait(replay *r, const run_ends *e, int64_t start, int64_t end)
{
    const struct run_ending *x = run_ending_within(e, start, end);
    return x ? add_item(r, &(replay_item){start, REPLAY_WAIT, x->run, x->end_ps}) : 0;
}

/* Waits of the thread: of nested ones the outermost. */
static int find_waits(replay *r, const trace *t, const uint8_t *is_wait, const run_ends *e)
{
    const trace_track *k = &t->tracks[r->track];
    int64_t until = INT64_MIN;
    for (size_t i = 0; i < k->count; i++) {
        int64_t start = trace_start(k, i);
        if (start < until || !is_wait[trace_kind_of(k, i)])
            continue;
        until = start + trace_dur(k, i);
        VP_TRY(add_wait(r, e, start, until));
    }
    return 0;
}

static int find_launches(replay *r, const trace *t, const run_ends *e)
{
    for (size_t i = 0; i < r->runs->count; i++) {
        const module_run *x = &r->runs->run[i];
        if (x->launch_track != r->track)
            continue;
        const trace_track *k = &t->tracks[x->launch_track];
        int64_t at = trace_start(k, x->launch_event), end = trace_end(k, x->launch_event);
        if (!x->is_inline && end - at > QUEUE_FULL_PS)
            VP_TRY(add_wait(r, e, at, end < x->start_ps ? end : x->start_ps));
        VP_TRY(add_item(r, &(replay_item){at, REPLAY_LAUNCH, (uint32_t)i, at}));
    }
    return 0;
}

/* A wait at the time of a launch comes first: it is the launch's own. */
static int by_item_time(const void *a, const void *b)
{
    const replay_item *x = a, *y = b;
    return x->at_ps != y->at_ps ? vp_order(x->at_ps, y->at_ps) : vp_order(y->action, x->action);
}

static int64_t recorded_time(const replay *r)
{
    int64_t end = r->until_ps;
    for (size_t i = 0; i < r->count && r->item[i].at_ps < r->until_ps; i++) {
        const module_run *x = &r->runs->run[r->item[i].run];
        if (r->item[i].action == REPLAY_LAUNCH && x->end_ps > end)
            end = x->end_ps;
    }
    return end - r->from_ps;
}

static int find_items(replay *r, const trace *t, const uint8_t *is_wait)
{
    run_ends e = {.runs = r->runs};
    VP_CLEANUP(vp_free_ptr) void *room = e.v = vp_calloc(r->runs->count + 1, sizeof *e.v);
    VP_NEED(room);
    for (size_t i = 0; i < r->runs->count; i++)
        if (!r->runs->run[i].is_inline)
            e.v[e.n++] = (struct run_ending){r->runs->run[i].end_ps, (uint32_t)i};
    vp_put_in_order(e.v, e.n, sizeof *e.v, by_ending);
    VP_TRY(find_waits(r, t, is_wait, &e));
    VP_TRY(find_launches(r, t, &e));
    vp_put_in_order(r->item, r->count, sizeof *r->item, by_item_time);
    r->recorded_ps = recorded_time(r);
    return 0;
}

static int prepare(replay *r, const trace *t, const uint8_t *is_wait)
{
    size_t n = r->runs->count + 1;
    r->queue = vp_calloc(n, sizeof *r->queue);
    r->run_end = vp_calloc(n, sizeof *r->run_end);
    VP_NEED(r->queue && r->run_end);
    VP_TRY(number_queues(r));
    r->free_ps = vp_calloc(2 * (size_t)r->queues + 1, sizeof *r->free_ps);
    VP_NEED(r->free_ps);
    return find_items(r, t, is_wait);
}

int replay_new(replay **out, const trace *t, const run_launches *runs, const uint8_t *is_wait,
               int64_t from_ps, int64_t until_ps)
{
    *out = NULL;
    if (!runs || !runs->count || until_ps <= from_ps)
        return 0;
    replay *r = vp_calloc(1, sizeof *r);
    VP_NEED(r);
    *r = (replay){.runs = runs, .from_ps = from_ps, .until_ps = until_ps};
    int rc = find_thread(r, t);
    if (rc >= 0 && r->track != TRACE_NO_TRACK)
        rc = prepare(r, t, is_wait);
    if (rc < 0 || r->track == TRACE_NO_TRACK) {
        replay_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

void replay_free(replay *r)
{
    if (!r)
        return;
    vp_free(r->item);
    vp_free(r->queue);
    vp_free(r->run_end);
    vp_free(r->free_ps);
    vp_free(r);
}

/* ---- Replay ---- */

/* The state of a replay. Recorded times are those of the trace, replayed ones count from 0. */
typedef struct replay_clock {
    replay *r;
    const replay_span *cut;
    size_t cuts, next; /* the first part that ends after `recorded` */
    int64_t recorded, replayed;
} replay_clock;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Moves to a recorded time: what was not left out took as long as it did. */
static void advance(replay_clock *c, int64_t to)
{
    while (c->recorded < to) {
        while (c->next < c->cuts && c->cut[c->next].end_ps <= c->recorded)
            c->next++;
        const replay_span *cut = c->next < c->cuts ? &c->cut[c->next] : NULL;
        if (cut && cut->start_ps <= c->recorded) {
            c->recorded = cut->end_ps < to ? cut->end_ps : to;
            continue;
        }
        int64_t end = cut && cut->start_ps < to ? cut->start_ps : to;
        c->replayed += end - c->recorded;
        c->recorded = end;
    }
}

static bool is_left_out(const replay_clock *c, int64_t at)
{
    size_t i = c->next;
    while (i < c->cuts && c->cut[i].end_ps <= at)
        i++;
    return i < c->cuts && c->cut[i].start_ps <= at;
}

/* A run starts as late after its launch and the run before it as it did. */
static void launch(replay_clock *c, const replay_item *x)
{
    const module_run *run = &c->r->runs->run[x->run];
    int64_t *replayed = &c->r->free_ps[2 * (size_t)c->r->queue[x->run]], *recorded = replayed + 1;
    bool left_out = is_left_out(c, x->at_ps);
    if (run->is_inline) { /* the thread's own work */
        c->r->run_end[x->run] = left_out ? 0 : c->replayed + (run->end_ps - x->at_ps);
        return;
    }
    int64_t late = later(run->start_ps - later(x->at_ps, *recorded), 0);
    int64_t took = run->end_ps - later(run->start_ps, *recorded);
    *recorded = later(*recorded, run->end_ps);
    c->r->run_end[x->run] = 0;
    if (left_out)
        return;
    *replayed = later(c->replayed, *replayed) + late + later(took, 0);
    c->r->run_end[x->run] = *replayed;
}

static void begin_replay(replay *r)
{
    for (size_t i = 0; i < 2 * (size_t)r->queues; i++)
        r->free_ps[i] = i % 2 ? r->from_ps : 0;
    for (size_t i = 0; i < r->runs->count; i++)
        r->run_end[i] = 0;
}

/* A run launched before the replay begins keeps its end. */
static void launched_before(replay *r, const replay_item *x)
{
    const module_run *run = &r->runs->run[x->run];
    int64_t *free_ps = &r->free_ps[2 * (size_t)r->queue[x->run]];
    if (run->is_inline || run->end_ps <= r->from_ps)
        return;
    free_ps[1] = later(free_ps[1], run->end_ps);
    free_ps[0] = free_ps[1] - r->from_ps;
    r->run_end[x->run] = run->end_ps - r->from_ps;
}

int64_t replay_time(replay *r, const replay_span *without, size_t count, bool waits)
{
    replay_clock c = {.r = r, .cut = without, .cuts = count, .recorded = r->from_ps};
    begin_replay(r);
    for (size_t i = 0; i < r->count; i++) {
        const replay_item *x = &r->item[i];
        if (x->at_ps >= r->until_ps)
            break;
        if (x->at_ps < r->from_ps) {
            if (x->action == REPLAY_LAUNCH)
                launched_before(r, x);
            continue;
        }
        advance(&c, x->at_ps);
        if (x->action == REPLAY_LAUNCH) {
            launch(&c, x);
        } else if (x->resumes_ps > c.recorded) {
            if (waits && !is_left_out(&c, x->at_ps))
                c.replayed = later(c.replayed, r->run_end[x->run]);
            c.recorded = x->resumes_ps;
        }
    }
    advance(&c, r->until_ps);
    int64_t end = c.replayed;
    for (size_t i = 0; i < r->queues; i++)
        end = later(end, r->free_ps[2 * i]);
    return end;
}
