#include "trace/analyze/host/quality.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/analyze/device/sweep.h"
#include "trace/analyze/host/calls.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/links/run_launches.h"

/* Data quality that needs host and devices together (docs/reference/metrics.md#data-quality).
 * Readers report problems of the file itself. */

/* The events of host threads by type. */
typedef struct host_counts {
    uint64_t events, launches, graphs;
    bool with_length;          /* an event with a duration */
    uint64_t threads, unnamed; /* with events */
} host_counts;

/* True if a thread has a name: a number is only its id. */
static bool is_named_thread(vp_str name)
{
    for (size_t i = 0; i < name.n; i++)
        if ((name.p[i] < '0' || name.p[i] > '9') && name.p[i] != '-')
            return true;
    return false;
}

static void count_track(host_counts *c, const analysis *a, const trace_track *k)
{
    c->threads++;
    c->unnamed += !is_named_thread(trace_str(a->t, k->name));
    c->events += k->count;
    for (size_t i = host_marked_from(a->kinds, k, 0); i < k->count;
         i = host_marked_from(a->kinds, k, i + 1)) {
        uint32_t flags = host_kind_flags(a->kinds, trace_kind_of(k, i));
        c->launches += (flags & HK_LAUNCH) != 0;
        c->graphs += (flags & HK_GRAPH) != 0;
    }
    for (size_t i = 0; !c->with_length && i < k->count; i++)
        c->with_length = trace_dur(k, i) > 0;
}

static host_counts count_host(const analysis *a)
{
    host_counts c = {0};
    for (uint32_t i = 0; i < a->t->track_count; i++)
        if (a->t->tracks[i].role == SINK_ROLE_PLAIN && a->t->tracks[i].count)
            count_track(&c, a, &a->t->tracks[i]);
    return c;
}

/* CUPTI needs a privilege, and fails if there is another subscriber
 * (docs/reference/xprof.md#no-device-events): then there are launches, but no kernels. */
static int note_no_device(const analysis *a, const host_counts *c)
{
    char text[240];
    for (size_t d = 0; a->h->has_devices && d < a->device_count; d++)
        if (a->h->devices[d].kind != VP_DEVICE_CPU)
            return 0;
    if (!c->launches)
        return 0;
    snprintf(text, sizeof text,
             "%" PRIu64 " calls launch device work, but no device was traced: the driver may "
             "restrict profiling to administrators, or another profiler was attached",
             c->launches);
    return host_note(a->h, "no-device", VP_SEV_WARNING, text);
}

/* The number of device ops that were launched by recorded graphs. */
static uint64_t ops_of_graphs(const analysis *a)
{
    uint64_t n = 0;
    for (size_t d = 0; d < a->device_count; d++)
        for (size_t i = 0; i < a->devices[d].set.count; i++) {
            const trace_track *k = &a->t->tracks[a->devices[d].set.tracks[i]];
            for (size_t e = 0; k->attr[SINK_CORRELATION] && e < k->count; e++) {
                uint32_t call = calls_find(a->calls, k, e);
                if (call == UINT32_MAX)
                    continue;
                const host_call *by = &a->calls->call[call];
                uint32_t kind = trace_kind_of(&a->t->tracks[by->track], by->index);
                n += (host_kind_flags(a->kinds, kind) & HK_GRAPH) != 0;
            }
        }
    return n;
}

/* A graph with a single op is never recorded. So if launches of graphs have at most one op each,
 * graphs were traced as a whole, and their ops are missing. */
static int note_graphs(const analysis *a, const host_counts *c)
{
    char text[200];
    uint64_t ops = c->graphs && a->h->has_devices ? ops_of_graphs(a) : UINT64_MAX;
    if (ops > c->graphs)
        return 0;
    snprintf(text, sizeof text,
             "%" PRIu64 " launches of recorded graphs show %" PRIu64
             " device ops: the ops inside the graphs are not in the trace",
             c->graphs, ops);
    return host_note(a->h, "graph-captured", VP_SEV_WARNING, text);
}

/* If more than a tenth of the ops have no launch call, the causes of idle time and the steps of ops
 * are uncertain (docs/reference/findings.md#f23-trace-unreliable). */
static int note_unlinked(const analysis *a)
{
    char text[200];
    int64_t linked = 0, unlinked = 0;
    for (size_t d = 0; d < a->device_count; d++) {
        const vp_launch *l = &a->h->devices[d].launch;
        if (l->linked_ops > 0 && l->unlinked_ops >= 0) {
            linked += l->linked_ops;
            unlinked += l->unlinked_ops;
        }
    }
    if (unlinked * 10 <= linked + unlinked)
        return 0;
    snprintf(text, sizeof text,
             "%" PRId64 " of %" PRId64 " device ops have no launch call in the trace", unlinked,
             linked + unlinked);
    return host_note(a->h, "unlinked-ops", VP_SEV_WARNING, text);
}

/* How many runs of XLA:CPU have no launch, and why (trace/links/run_launches.h). */
static int note_unlinked_runs(const analysis *a)
{
    const run_launches *r = a->runs;
    const struct {
        size_t n;
        const char *why;
    } reasons[] = {{r->before_recording, "launched before the recording"},
                   {r->of_several, "on several devices, which their launches do not name"},
                   {r->early, "would start before their launch"},
                   {r->unlinked - r->before_recording - r->of_several - r->early,
                    "without a launch in this file"}};
    char text[320];
    if (!r->unlinked)
        return 0;
    int n = snprintf(text, sizeof text, "%zu of %zu runs of modules have no launch", r->unlinked,
                     r->count);
    const char *separator = ": ";
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (!reasons[i].n)
            continue;
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%zu %s", separator, reasons[i].n,
                      reasons[i].why);
        separator = ", ";
    }
    return host_note(a->h, "unlinked-runs", VP_SEV_INFO, text);
}

/* ---- A GPU that was used but not recorded ---- */

/* An operator that only GPUs have: of cuDNN or MIOpen. NULL: none. */
static const char *gpu_operator(const trace *t)
{
    for (uint32_t i = 0; i < t->kind_count; i++) {
        vp_str name = trace_str(t, t->kinds[i].name);
        if (vp_str_eq(trace_str(t, t->kinds[i].category), VP_STR("cpu_op")) &&
            !vp_str_ends(name, VP_STR("_is_acceptable")) && /* a question, also on CPUs */
            (vp_str_find(name, VP_STR("cudnn")) < name.n ||
             vp_str_find(name, VP_STR("miopen")) < name.n))
            return name.p;
    }
    return NULL;
}

/* The first allocator of GPU memory; NULL: none. */
static const char *gpu_allocator(const host_result *h)
{
    for (size_t i = 0; i < h->memory_count; i++)
        if (h->memory[i].allocator &&
            vp_str_starts(vp_str_of(h->memory[i].allocator), VP_STR("GPU ")))
            return h->memory[i].allocator;
    return NULL;
}

/* Kineto records a GPU's kernels and launches only with ProfilerActivity.CUDA, but memory and
 * operators also without it. */
static int note_gpu_not_recorded(const analysis *a, const host_counts *c)
{
    char text[240];
    if (a->h->has_devices || c->launches || !c->events)
        return 0;
    const char *op = gpu_operator(a->t), *memory = gpu_allocator(a->h);
    if (!op && !memory)
        return 0;
    snprintf(text, sizeof text, "%.40s is used (%s%s%.80s%s) but was not recorded",
             memory ? memory : "a GPU", memory ? "its memory is allocated" : "",
             memory && op ? ", " : "", op ? op : "", op ? " runs" : "");
    return host_note(a->h, "gpu-not-recorded", VP_SEV_WARNING, text);
}

/* ---- Launch calls whose kernels are missing ---- */

#define LOST_KERNELS_LEAST 5

/* Launch calls of kernels, and those whose kernel is in the file. */
typedef struct launch_matches {
    uint8_t *has_op; /* by call of the index */
    size_t calls, matched;
    int64_t first_matched_ps, last_matched_ps; /* starts of the calls */
    int64_t first_lost_ps, last_lost_ps;
} launch_matches;

static bool is_kernel_launch(const analysis *a, const host_call *c)
{
    uint32_t kind = trace_kind_of(&a->t->tracks[c->track], c->index);
    vp_str name = trace_str(a->t, a->t->kinds[kind].name);
    uint32_t flags = host_kind_flags(a->kinds, kind);
    return (flags & HK_LAUNCH) && !(flags & (HK_TRANSFER | HK_GRAPH)) &&
           vp_str_find(name, VP_STR("Launch")) < name.n;
}

static void mark_launches_with_ops(launch_matches *m, const analysis *a)
{
    for (size_t d = 0; d < a->device_count; d++)
        for (size_t i = 0; i < a->devices[d].set.count; i++) {
            const trace_track *k = &a->t->tracks[a->devices[d].set.tracks[i]];
            for (size_t e = 0; k->attr[SINK_CORRELATION] && e < k->count; e++) {
                uint32_t call = calls_find(a->calls, k, e);
                if (call != UINT32_MAX)
                    m->has_op[call] = 1;
            }
        }
}

/* By kind: begin and end of the recording of a CUDA graph. */
static bool marks_capture(const trace *t, uint32_t kind, vp_str which)
{
    vp_str name = trace_str(t, t->kinds[kind].name);
    return vp_str_ends(name, which) && vp_str_find(name, VP_STR("Stream")) < name.n;
}

/* The times at which a thread records a graph: calls then launch nothing. */
static int add_captures_of_track(spans *out, const analysis *a, const trace_track *k,
                                 const uint8_t *mark)
{
    int64_t since = INT64_MIN;
    for (size_t e = 0; e < k->count; e++) {
        uint8_t m = mark[trace_kind_of(k, e)];
        if (m == 1)
            since = trace_start(k, e);
        if (m != 2 || since == INT64_MIN)
            continue;
        VP_TRY(spans_add(out, since, trace_start(k, e) + trace_dur(k, e)));
        since = INT64_MIN;
    }
    return since == INT64_MIN ? 0 : spans_add(out, since, a->t->extent_end_ps);
}

static int find_captures(spans *out, const analysis *a)
{
    const trace *t = a->t;
    VP_CLEANUP(vp_free_ptr) uint8_t *mark = vp_calloc((size_t)t->kind_count + 1, sizeof *mark);
    bool any = false;
    VP_NEED(mark);
    for (uint32_t i = 0; i < t->kind_count; i++) {
        mark[i] = marks_capture(t, i, VP_STR("BeginCapture")) ? 1
                  : marks_capture(t, i, VP_STR("EndCapture")) ? 2
                                                              : 0;
        any = any || mark[i];
    }
    for (uint32_t i = 0; any && i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_PLAIN)
            VP_TRY(add_captures_of_track(out, a, &t->tracks[i], mark));
    return spans_union(out);
}

static void count_launch_matches(launch_matches *m, const analysis *a, const spans *captures)
{
    size_t near = 0;
    m->first_matched_ps = m->first_lost_ps = INT64_MAX;
    m->last_matched_ps = m->last_lost_ps = INT64_MIN;
    for (uint32_t i = 0; i < a->calls->count; i++) {
        if (!is_kernel_launch(a, &a->calls->call[i]))
            continue;
        int64_t at = call_start(a->calls, a->t, i);
        if (spans_contain(captures, at, &near))
            continue;
        int64_t *first = m->has_op[i] ? &m->first_matched_ps : &m->first_lost_ps;
        int64_t *last = m->has_op[i] ? &m->last_matched_ps : &m->last_lost_ps;
        m->calls++;
        m->matched += m->has_op[i];
        *first = at < *first ? at : *first;
        *last = at > *last ? at : *last;
    }
}

/* The steps with launched kernels of which none is in the file, as "; steps 3–6 have no device
 * time, they are not idle"; "" if there are none. */
static void lost_steps(char text[120], const launch_matches *m, const analysis *a)
{
    const vp_steps *s = &a->h->steps;
    int64_t first = -1, last = -1;
    size_t n = 0;
    *text = 0;
    for (size_t i = 0; i < s->count && a->marked_start_ps; i++) {
        bool matched = a->marked_start_ps[i] <= m->last_matched_ps &&
                       a->marked_end_ps[i] > m->first_matched_ps;
        bool lost =
            a->marked_start_ps[i] <= m->last_lost_ps && a->marked_end_ps[i] > m->first_lost_ps;
        if (matched || !lost)
            continue;
        first = n++ ? first : s->list[i].number;
        last = s->list[i].number;
    }
    if (n == 1 && first >= 0)
        snprintf(text, 120, "; step %" PRId64 " has no device time, it is not idle", first);
    else if (n > 1 && first >= 0 && last - first + 1 == (int64_t)n)
        snprintf(text, 120,
                 "; steps %" PRId64 "–%" PRId64 " have no device time, they are not idle", first,
                 last);
    else if (n)
        snprintf(text, 120, "; %zu steps have no device time, they are not idle", n);
}

/* The side on which all lost kernels are: " all before 1.6 ms," or "". */
static void lost_place(char text[80], const launch_matches *m, const analysis *a)
{
    bool before = m->last_lost_ps < m->first_matched_ps;
    int64_t at = (before ? m->first_matched_ps : m->last_matched_ps) - a->h->origin_ps;
    *text = 0;
    if (m->matched && (before || m->first_lost_ps > m->last_matched_ps))
        snprintf(text, 80, ", all %s %.1f ms", before ? "before" : "after", (double)at / 1e9);
}

/* The profiler lost the first or the last kernels, or those of one stream: the time of the device
 * is then unknown, and looks idle (docs/reference/metrics.md#data-quality). A tenth is missing
 * elsewhere, too: kernels that ran after the end of the capture. */
static int note_lost_kernels(const analysis *a)
{
    char text[320], place[80], steps[120];
    VP_CLEANUP(vp_free_ptr) uint8_t *has_op = vp_calloc(a->calls->count + 1, sizeof *has_op);
    launch_matches m = {.has_op = has_op};
    VP_NEED(has_op);
    if (!a->h->has_devices || !a->calls->count)
        return 0;
    spans captures = {0};
    int rc = find_captures(&captures, a);
    mark_launches_with_ops(&m, a);
    if (rc >= 0)
        count_launch_matches(&m, a, &captures);
    spans_free(&captures);
    VP_TRY(rc);
    size_t lost = m.calls - m.matched;
    if (!m.matched || lost < LOST_KERNELS_LEAST || lost * 10 <= m.calls)
        return 0;
    lost_place(place, &m, a);
    lost_steps(steps, &m, a);
    snprintf(text, sizeof text, "%zu of %zu launch calls have no kernel%s%s", lost, m.calls, place,
             steps);
    return host_note(a->h, "lost-kernels", VP_SEV_WARNING, text);
}

static bool has_unusable(const trace *t)
{
    for (uint32_t i = 0; i < t->quality_count; i++)
        if (!strcmp(t->quality[i].code, "bad-event"))
            return true;
    return false;
}

static int note_empty(const analysis *a, const host_counts *c)
{
    bool lasts = c->with_length;
    if (!a->t->event_count && has_unusable(a->t)) /* there were some, according to that note */
        return 0;
    for (size_t d = 0; d < a->device_count; d++)
        lasts = lasts || a->h->devices[d].breakdown.busy_ps > 0;
    if (!a->t->event_count)
        return host_note(a->h, "empty-window", VP_SEV_WARNING,
                         a->t->skipped_count
                             ? "only counters, flows and other events without a duration were "
                               "recorded"
                             : "no events were recorded between start and stop of the profile");
    return lasts ? 0
                 : host_note(a->h, "no-durations", VP_SEV_WARNING,
                             "no event has a duration, so there is no time to analyze");
}

static int note_names(const analysis *a, const host_counts *c)
{
    char text[160];
    if (c->unnamed * 2 <= c->threads)
        return 0;
    snprintf(text, sizeof text,
             "%" PRIu64 " of %" PRIu64 " host threads have no name and are shown by number",
             c->unnamed, c->threads);
    return host_note(a->h, "thread-names", VP_SEV_INFO, text);
}

int quality_collect(analysis *a)
{
    host_counts c = count_host(a);
    if (a->cost_overflow)
        VP_TRY(host_note(a->h, "cost-overflow", VP_SEV_WARNING,
                         "the FLOP or bytes of an op are implausibly large; their time at the peak "
                         "is capped"));
    VP_TRY(note_no_device(a, &c));
    VP_TRY(note_graphs(a, &c));
    VP_TRY(note_unlinked(a));
    VP_TRY(note_unlinked_runs(a));
    VP_TRY(note_gpu_not_recorded(a, &c));
    VP_TRY(note_lost_kernels(a));
    VP_TRY(note_empty(a, &c));
    return note_names(a, &c);
}
