/* When execution had begun in earnest: what compiles later compiles late (6.2.1, F10). Only
 * analyze/ includes this. */
#ifndef VP_ANALYZE_FIRST_RUN_H
#define VP_ANALYZE_FIRST_RUN_H

#include "trace/analyze/host.h"

/* The end of the first run of a step's module on the host's clock: of the module that runs longest
 * in all, or of one that runs in two steps or more; JAX's tiny modules of the initialisation do
 * not count. Runs are those of module tracks, else ops of one run id, else a module's first op.
 * Without modules the end of the first step; INT64_MAX when nothing ran. */
int first_run_end(int64_t *out, const analysis *a);

#endif
