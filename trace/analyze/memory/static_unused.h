/* Part of a program during which a buffer that is live at the peak is not read. Such buffers could
 * be offloaded to the host. */
#ifndef VP_ANALYZE_STATIC_UNUSED_H
#define VP_ANALYZE_STATIC_UNUSED_H

#include "trace/read/hlo/hlo_program.h"

/* Work is counted in instructions of the entry computation, in execution order. A loop or a call
 * counts as all instructions in it; views and arguments count as 0. */
typedef struct unused_times {
    const hlo_program *p;
    const hlo_computation *c; /* NULL: unknown */
    int64_t *start;           /* by instruction of the entry: the work before it, */
    int64_t *weight;          /* and its own */
    int64_t *before, *after;  /* by instruction: last use of its value up to the peak, and first
                                 use from the peak on */
    int64_t all;
} unused_times;

/* peak: the instruction at the peak; none: unknown. 0 or VP_ENOMEM; free it also on failure. */
int unused_times_make(unused_times *t, const hlo_program *p, vp_str peak);
void unused_times_free(unused_times *t);
/* Work around the peak during which the buffer is not read; -1: unknown. */
int64_t unused_times_of(const unused_times *t, uint32_t buffer);

/* True if an instruction only renames results of others. */
bool hlo_is_view(vp_str opcode);

#endif
