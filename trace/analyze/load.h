/* Reads a host's files into a sealed trace and analyzes it.
 *
 * VP_DEPTH_OPS (top) reads only the data of op tables and skips host events if there is a device.
 * Otherwise everything is read: events then have sparse attributes (correlation, flows, step
 * numbers, allocator figures), each a column of its track that exists only if an event has a value.
 *
 * VP_WHERE_HOST makes the op tables of the host's threads although a device exists. Device tracks
 * are ignored (host_zones) and the rest is analyzed as a program without devices: processes take
 * the role of devices, shares are of the self time of a process's threads, and VP_GROUP_SCOPE and
 * VP_GROUP_STACK show call paths. Only tables are made: findings, steps and gaps need the device
 * (analysis.where in the JSON names the tables, its depth is "ops"). */
#ifndef VP_ANALYZE_LOAD_H
#define VP_ANALYZE_LOAD_H

#include "trace/analyze/analyze.h"
#include "trace/analyze/host_analysis.h"
#include "trace/analyze/result/host_result.h"

typedef struct load_options {
    vp_group group;
    vp_depth depth;
    vp_progress_fn *progress; /* bytes read of this host's file; may be NULL */
    void *progress_ctx;
    bool one_step; /* analyzes only the step with this number; VP_ENOTFOUND: not on this host */
    int64_t step;
    const char *step_series, *steps_by; /* as in vp_report_options */
    bool one_window;                    /* analyzes only events from from_ps and before until_ps */
    int64_t from_ps, until_ps;          /* of the report */
    vp_where where;
    bool programs;  /* read programs and launch configurations of kernels at any depth; the latter
                       are also read if group is VP_GROUP_RAW */
    bool uncounted; /* as in vp_report_options */
    int threads;    /* number of threads that may read the host's file at once */
    peak_wish wish;
    /* Receives the sealed trace, before it is analyzed or cut; may be NULL. Its ctx is that of the
     * watch. */
    int (*look)(void *ctx, const trace *t);
    host_watch watch;
    trace **left; /* receives the trace of an analyzed host, or the rest of it, which the caller
                     frees; NULL: it is freed here */
} load_options;

/* For a sealed trace without a device: every event's kind becomes that of its call path, which is
 * its scope (call_paths.c). */
int call_paths(trace *t);

/* Reduces a trace with devices to the threads of the host, as if it had no devices. */
void host_zones(trace *t);

/* Reads the host's primary file, or its other half if that is unreadable (with a quality entry),
 * and analyzes it. *used is the index of the file that was read. */
int load_host(host_result *out, uint32_t *used, const catalog *c, const cat_session *s,
              uint32_t host, const load_options *opts);

/* Adds devices to the steps of such a host, on this many threads. They are needed only in the
 * report, so this is done while the trace is freed. VP_ENOMEM, VP_ELIMIT. */
int load_unpack(host_result *h, const cat_file *f, int threads);

/* The maximum memory for reading a profile of this size on disk, for a vp_mem_budget. */
int64_t load_memory_max(int64_t bytes);

#endif
