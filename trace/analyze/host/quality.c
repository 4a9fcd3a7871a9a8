#include "trace/analyze/host/quality.h"

#include <inttypes.h>
#include <stdio.h>

#include "trace/analyze/host/calls.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/base/err.h"

/* What makes figures doubtful and only shows when host and devices are seen together
 * (docs/reference/metrics.md#data-quality). What the file itself is to blame for, its reader says.
 */

/* The events of host threads by what they are. */
typedef struct host_counts {
    uint64_t events, launches, graphs;
    bool with_length;          /* an event that has a length */
    uint64_t threads, unnamed; /* with events */
} host_counts;

/* Whether a thread has a name: a number is only its id. */
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
    for (size_t i = host_sought_from(a->kinds, k, 0); i < k->count;
         i = host_sought_from(a->kinds, k, i + 1)) {
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

/* CUPTI needs a privilege, and another subscriber keeps it away
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

/* How many device ops are known to have been started by the launch of a recorded graph. */
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

/* Nobody records a graph of a single op. So if launches of graphs have no more than one op each,
 * graphs were traced as a whole, and what runs in them is not seen. */
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
    if (!a->t->event_count && has_unusable(a->t)) /* there were some, as that note says */
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
    VP_TRY(note_empty(a, &c));
    return note_names(a, &c);
}
