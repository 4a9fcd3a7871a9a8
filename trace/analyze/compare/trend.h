/* One line of values per run, over many runs: the part of a report that a history keeps. Rows are
 * in the arena of the caller. */
#ifndef VP_ANALYZE_TREND_H
#define VP_ANALYZE_TREND_H

#include "include/view_profile.h"
#include "trace/base/arena.h"

typedef struct trend_op {
    vp_op_class op_class;
    const char *category, *name;
    int64_t self_ps; /* in a step, or in the window; mean over the devices */
} trend_op;

/* Figures of a step if the run has complete steps, else of its window. */
typedef struct trend_run {
    const char *id, *name, *path;
    int64_t captured_unix_ns;
    bool per_step;
    int64_t steps; /* complete steps; VP_UNKNOWN: none */
    int64_t median_ps, p90_ps, mad_ps;
    /* The numbers of the first and the last complete step, the start of the one and the end of the
     * other. They give the time between two captures of a job. VP_UNKNOWN: no such numbers. */
    int64_t first_step, last_step, first_unix_ns, last_end_unix_ns;
    const char *device; /* the slowest device; NULL without devices */
    int64_t window_ps, compute_ps, exposed_comm_ps, exposed_copy_ps, idle_ps; /* its mean */
    trend_op *ops; /* the largest, by self time */
    size_t op_count;
} trend_run;

/* out is allocated in the arena. VP_EARG for a report with only op tables, VP_ENOMEM. */
int trend_run_of(trend_run *out, vp_arena *arena, const vp_report *r);

/* An op over all runs. */
typedef struct trend_row {
    const trend_op *op; /* as in the run with its largest value */
    int64_t *self_ps;   /* by run; VP_UNKNOWN: not among the largest of that run */
    int64_t moved_ps;   /* the largest known self_ps minus the smallest */
} trend_row;

/* rows: the ops in descending order of their change; allocated in the arena. */
int trend_rows(trend_row **rows, size_t *count, vp_arena *arena, const trend_run *runs, size_t n);

#endif
