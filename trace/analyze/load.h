/* A host's files → a sealed trace → its figures. Only analyze/ includes this.
 *
 * VP_DEPTH_OPS (top) reads what the op tables need and skips host events where there is a device.
 * Everything else reads in full: events then carry sparse attributes (correlation, flows, step
 * numbers, allocator figures), each a column of its track that exists only where some event has it.
 *
 * VP_WHERE_HOST makes the op tables of the host's threads where a device exists: its tracks are
 * left aside (host_zones) and the rest is analysed as a program without one, so processes stand
 * where devices do, shares are of the self time of a process's threads, and VP_GROUP_SCOPE
 * and VP_GROUP_STACK show call paths. Only the tables are made of it: findings, steps and gaps need
 * the device (the JSON's analysis.where says whose tables they are, its depth is "ops"). */
#ifndef VP_ANALYZE_LOAD_H
#define VP_ANALYZE_LOAD_H

#include "trace/analyze/analyze.h"
#include "trace/analyze/host_analysis.h"
#include "trace/analyze/result/host_result.h"

typedef struct load_options {
    vp_group group;
    vp_depth depth;
    vp_progress_fn *progress; /* bytes of this host's file; may be NULL */
    void *progress_ctx;
    bool one_step; /* analyses only the step of this number; VP_ENOTFOUND: this host does not have
                      it */
    int64_t step;
    const char *step_series, *steps_by; /* as in vp_report_options */
    bool one_window;           /* analyses only what runs from from_ps on and before until_ps */
    int64_t from_ps, until_ps; /* of the report */
    vp_where where;
    bool programs;  /* the trace holds them, and how kernels were launched, whatever the depth; the
                       latter also where group is VP_GROUP_RAW */
    bool uncounted; /* as in vp_report_options */
    int threads;    /* that may read the host's file at once */
    peak_wish wish;
    /* The sealed trace, before anything is analysed or cut; may be NULL. Its ctx is the watch's. */
    int (*look)(void *ctx, const trace *t);
    host_watch watch;
    trace **left; /* where the trace of a host that was analysed is left, for the caller to free,
                     or what is left of it; NULL: it is freed here */
} load_options;

/* Of a sealed trace without a device: every event's kind becomes one of its call path, which is its
 * scope (call_paths.c). */
int call_paths(trace *t);

/* Leaves of a trace with a device what the threads of the host do, as if it had none. */
void host_zones(trace *t);

/* Reads the host's primary file, or its other half when that one is unreadable (said in quality),
 * and analyses it. *used is the index of the file that was read. */
int load_host(host_result *out, uint32_t *used, const catalog *c, const cat_session *s,
              uint32_t host, const load_options *opts);

/* Gives the steps of such a host their devices, with so many threads: nothing else needs them, so
 * it is done once its trace is being freed. VP_ENOMEM, VP_ELIMIT. */
int load_unpack(host_result *h, const cat_file *f, int threads);

/* What reading a profile of so many bytes on the disk may take: a vp_mem_budget's max. */
int64_t load_memory_max(int64_t bytes);

#endif
