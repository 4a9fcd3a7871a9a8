/* Details of one row of an op table: its slowest calls, a histogram of durations, and the names in
 * the group. The caller frees them. Fails if the file no longer has the op or cannot be read.
 *
 * A report contains only sums over calls, so the host's file is read again, queued with other
 * analyses, and evaluated while its analysis is in memory (host_watch). */
#ifndef VP_ANALYZE_OP_DETAILS_H
#define VP_ANALYZE_OP_DETAILS_H

#include "include/view_profile.h"
#include "trace/analyze/result/op_graph.h"
#include "trace/model/catalog/catalog.h"

/* Maximum numbers on one page: slowest calls, raw names, and bins of the histogram. */
#define OP_CALLS_MAX 50u
#define OP_NAMES_MAX 500u
#define OP_LAUNCHES_MAX 50u
#define OP_CALLERS_MAX 50u
#define OP_BINS 40u

typedef struct detail_call {
    const char *name, *track;
    int64_t start_ps, dur_ps; /* on the report's clock: the aligned one */
} detail_call;

/* A raw name of the group. */
typedef struct detail_name {
    const char *name, *scope, *source, *shape; /* scope and source with most of its self time; may
                                                * be NULL */
    const char *placed;       /* how the scope of a CUDA graph's kernel was found: "name" or
                                 "order"; NULL: it is in the file */
    const char *tensor_cores; /* the part of the name that shows it; NULL: none */
    int64_t scopes, sources;  /* number of distinct ones with this name */
    int64_t calls, self_ps, max_ps;
} detail_name;

/* One launch configuration of the group's kernels. */
typedef struct detail_launch {
    vp_kernel_launch how;
    int64_t calls, self_ps;
} detail_launch;

/* A place in the host code that launched calls of the group. */
typedef struct detail_caller {
    const char *operator_name, *outermost_name, *scope, *source; /* may be NULL */
    int64_t calls, self_ps;
} detail_caller;

typedef struct op_details {
    detail_call *calls; /* the longest first, then by time */
    size_t call_count;
    detail_name *names; /* by self time */
    size_t name_count, more_names;
    detail_launch *launches; /* by self time */
    size_t launch_count, more_launches;
    detail_caller *callers; /* by self time; empty if launches give no operator */
    size_t caller_count, more_callers;
    int64_t bins[OP_BINS]; /* a histogram of the calls: bins of equal width from min_ps to max_ps */
    int64_t min_ps, max_ps;
    /* Its neighborhood in the program; NULL: not in the file. Nodes refer to ops of the report. */
    const op_graph *graph;
    void *owner_;
} op_details;

/* Gets details of the op r->ops[op]. Only the progress of opts is used. VP_ENOTFOUND: the file has
 * changed since the report was made. */
int analyze_op(op_details **out, const catalog *c, const cat_session *s, const vp_report *r,
               size_t op, const vp_report_options *opts);
void op_details_free(op_details *d);

/* An id of an op of a report for links: a hash of class, category and name; unique on one device.
 */
uint64_t op_key(const vp_op *op);

/* The index in r->ops of the op with a call of this name, on the device with this name of a host
 * (NULL: any); r->op_count: none. If several ops match, the one with the most self time. exact: the
 * name is that of an op, not of an event. */
size_t op_of_event(const vp_report *r, const char *host, vp_str device, vp_str name, bool exact);

#endif
