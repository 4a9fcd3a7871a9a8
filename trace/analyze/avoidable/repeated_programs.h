/* Programs whose products another program computes as well: the forward pass for a loss that the
 * training step returns anyway (docs/reference/metrics.md#avoidable-work). */
#ifndef VP_ANALYZE_REPEATED_PROGRAMS_H
#define VP_ANALYZE_REPEATED_PROGRAMS_H

#include "trace/analyze/avoidable/hlo_values.h"
#include "trace/analyze/result/analysis.h"

/* An executed program of the trace. */
typedef struct known_program {
    const hlo_program *p; /* NULL: it did not run, or is damaged */
    hlo_values values;
    uint32_t *batch;         /* by instruction (hlo_batches.h) */
    uint8_t *callback_input; /* by instruction (callback_inputs.h); NULL: none */
} known_program;

/* Sets `repeats` of h->modules; programs: by program of the trace. VP_ENOMEM. */
int repeated_programs_collect(analysis *a, const known_program *programs);

#endif
