/* State of the analysis of one host that its parts share. Each analysis is a file in a folder of
 * analyze/ and adds its part to the result. host_analysis.c runs them and owns this state.
 *
 * A trace may have as many devices as kinds. Work per device therefore uses the device's list of
 * kinds and groups (kind_list) and the tracks of its process (TRACE_EACH_OF), never those of the
 * whole file. */
#ifndef VP_ANALYZE_ANALYSIS_H
#define VP_ANALYZE_ANALYSIS_H

#include "trace/analyze/result/host_result.h"

/* A set of tracks that are analyzed together: the op tracks of a device, or all plain tracks of a
 * process. */
typedef struct track_set {
    const trace *t;
    const uint32_t *tracks;
    size_t count;
} track_set;

/* A trace may have as many devices as kinds, so each device has a list of the kinds that it runs.
 * Loops per device use this list. */
typedef struct kind_list {
    uint32_t *kind;           /* kinds with calls, ascending */
    int64_t *self_ps, *calls; /* of each */
    uint32_t n;
    uint32_t *group, group_n; /* the groups that they belong to, by number: one op per group */
} kind_list;
/* The position of a kind in the list; n: not in it. */
static inline uint32_t kind_list_find(const kind_list *l, uint32_t kind)
{
    uint32_t low = 0, high = l->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (l->kind[mid] < kind)
            low = mid + 1;
        else
            high = mid;
    }
    return low < l->n && l->kind[low] == kind ? low : l->n;
}
static inline int64_t kind_list_calls(const kind_list *l, uint32_t kind)
{
    uint32_t at = kind_list_find(l, kind);
    return at < l->n ? l->calls[at] : 0;
}
typedef struct grouping grouping;           /* groups of kinds that are one op: device/ops.h */
typedef struct host_kinds host_kinds;       /* meaning of the host's events: host_kinds.h */
typedef struct call_index call_index;       /* launch calls of ops: calls.h */
typedef struct host_ops_task host_ops_task; /* host_ops.c */
typedef struct idle_gap idle_gap;           /* idle/idle.h */
typedef struct idle_piece idle_piece;

typedef struct device_work {
    uint32_t process;
    track_set set;     /* its op tracks */
    kind_list times;   /* self time and calls of the kinds that it runs */
    uint32_t first_op; /* indices in h->ops; times.group_n of them */
} device_work;

typedef struct analysis analysis;

/* Callbacks during the analysis of a host; either may be NULL. A negative result ends the analysis.
 */
typedef struct host_watch {
    /* Called when all analyses are done; h has its devices and ops. */
    int (*done)(void *ctx, const analysis *a);
    /* Called for every device in turn, in a full analysis only: the pieces of its idle time
     * (idle/idle.h), in order; their lengths add up to idle_ps of its breakdown. */
    int (*idle)(void *ctx, const analysis *a, uint32_t device, const idle_gap *g,
                const idle_piece *p);
    void *ctx;
    trace *expendable; /* the trace, if it is not used after the analysis; or NULL */
} host_watch;

struct analysis {
    host_result *h;
    const trace *t;
    const grouping *g;
    const device_work *devices; /* h->device_count of them, in the order of h->devices */
    size_t device_count;
    host_kinds *kinds;
    call_index *calls;
    struct run_launches *runs; /* trace/links/run_launches.h */
    step_windows *windows;     /* by device; NULL before steps_collect and without steps */
    /* The program's own time for each of h->steps, on the host's clock, before the origin is
     * subtracted; start > end: the step is only on devices. NULL before steps_collect and without
     * steps. */
    int64_t *marked_start_ps, *marked_end_ps;
    uint32_t *marked_track; /* the track with the step's event */
    host_ops_task *host_ops;
    struct any_device *any_device; /* device/any_device.h */
    struct gaps_asked *gaps;       /* idle/gaps.c; NULL before gaps_ask */
    uint32_t *op_of_group;         /* ops_by_group's */
    struct program_list *programs; /* programs.h */
    bool cost_overflow;            /* set by mfu_collect: an op has an impossible cost, which
                                    * becomes a quality entry */
    host_watch watch;
};

/* Declares that this attribute is not needed any more, and not in use: frees it if the trace may be
 * modified. */
static inline void analysis_forget(const analysis *a, sink_attr attr)
{
    if (a->watch.expendable)
        trace_forget(a->watch.expendable, attr);
}

#endif
