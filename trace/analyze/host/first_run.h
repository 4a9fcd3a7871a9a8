/* Time of the first execution of a step's module. Compilation before it belongs to startup (F11);
 * compilation after it is late (F10). */
#ifndef VP_ANALYZE_FIRST_RUN_H
#define VP_ANALYZE_FIRST_RUN_H

#include "trace/analyze/result/analysis.h"

/* On the host's clock; INT64_MAX: nothing ran. */
typedef struct first_run {
    int64_t prepared; /* compiles that begin before are preparation */
    int64_t over;     /* compiles that begin from here on, and are no preparation, are late */
} first_run;

/* Finds the first run of a step's module (docs/reference/findings.md#f10-recompile): of the module
 * that runs longest in all, or of one that runs in at least two steps; JAX's tiny modules of the
 * initialisation do not count. Runs are those of module tracks, else the ops of one run id, else a
 * module's first op. Preparation lasts until that run begins; within the first step, until the
 * longest module's first run does: the first call of a step compiles inside it, maybe after a
 * helper that every step calls has run. Without modules both times are the end of the first step.
 */
int first_run_find(first_run *out, const analysis *a);

#endif
