/* Time of the first execution of a step's module. Compilation before it belongs to startup (F11);
 * compilation after it is late (F10). */
#ifndef VP_ANALYZE_FIRST_RUN_H
#define VP_ANALYZE_FIRST_RUN_H

#include "trace/analyze/result/analysis.h"

/* On the host's clock; INT64_MAX: nothing ran. */
typedef struct first_run {
    int64_t prepared; /* compilations that begin earlier are preparation */
    int64_t over;     /* compilations that begin from here on are late, except preparation */
} first_run;

/* Finds the first run of a step's module (docs/reference/findings.md#f10-recompile): the module
 * with the most total time, or one that runs in at least two steps. JAX's tiny initialization
 * modules are ignored. Runs are those of module tracks, else the ops with one run id, else a
 * module's first op. Preparation lasts until that run begins. Within the first step it lasts until
 * the first run of the module with the most time, because the first call of a step compiles inside
 * it, possibly after a helper of every step has run. Without modules, both times are the end of the
 * first step. */
int first_run_find(first_run *out, const analysis *a);

#endif
