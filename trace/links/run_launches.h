/* Runs of modules on XLA:CPU, and the host events that launched them
 * (docs/reference/links.md#runs-of-xla-cpu). An op carries the id of its run. The launch of a run
 * on several devices carries it, too: such a link is exact. The launch on one device has no id:
 * there the k-th launch starts the k-th run, unless the run's ops lie inside the launch itself (the
 * launching thread ran them). The owner frees the list. */
#ifndef VP_LINKS_RUN_LAUNCHES_H
#define VP_LINKS_RUN_LAUNCHES_H

#include "trace/base/map.h"
#include "trace/model/trace.h"

typedef struct module_run {
    int64_t id;
    /* Start of its first op; end of its last op, or of the wait for the run if that is earlier: the
     * end of an asynchronous op may be recorded long after the op ended. */
    int64_t start_ps, end_ps;
    int64_t waited_ps;     /* latest end of a wait for this id, kept in the first run of the id */
    uint32_t process;      /* of the device */
    uint32_t track, event; /* its first op */
    uint32_t launch_track; /* TRACE_NO_TRACK: the launch is unknown */
    uint32_t launch_event;
    uint32_t same_id; /* the run of this id on another device; VP_MAP_NONE: none */
    bool by_order;    /* the launch has no id */
    bool is_inline;   /* the launching thread ran it */
} module_run;

typedef struct run_launches {
    module_run *run; /* in the order of first ops, one device after the other */
    size_t count, cap;
    vp_map by_device;        /* device and id → run */
    vp_map by_id;            /* id → its first run */
    size_t unlinked;         /* runs without a launch; of these: */
    size_t before_recording; /* they exceed the launches of their device */
    size_t of_several;       /* they are of several devices, which launches do not name */
    size_t early;            /* they would start before their launch */
} run_launches;

/* Finds the runs of all XLA:CPU devices of a sealed trace. An empty list in other traces.
 * VP_ENOMEM. */
int run_launches_new(run_launches **out, const trace *t);
void run_launches_free(run_launches *r);
/* The run of an op; NULL: it has no run id. */
const module_run *run_launches_find(const run_launches *r, const trace_track *ops, size_t event);

#endif
