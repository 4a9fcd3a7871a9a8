/* Part of a program during which a buffer that is live at the peak is not read. Such buffers could
 * be offloaded to the host. */
#ifndef VP_ANALYZE_STATIC_UNUSED_H
#define VP_ANALYZE_STATIC_UNUSED_H

#include "trace/read/hlo/hlo_program.h"

/* Work is counted in instructions of the entry computation, in the order in which they run; a loop
 * or a call is as much as all in it, views and arguments are none. */
typedef struct unused_times {
    const hlo_program *p;
    const hlo_computation *c; /* NULL: nothing is known */
    int64_t *start;           /* by instruction of the entry: the work before it, */
    int64_t *weight;          /* and its own */
    int64_t *before, *after;  /* by instruction: when its value is used last up to the peak, and
                                 first from there */
    int64_t all;
} unused_times;

/* peak: the instruction at which the peak is; none: nothing is known. 0 or VP_ENOMEM; freed also on
 * failure. */
int unused_times_make(unused_times *t, const hlo_program *p, vp_str peak);
void unused_times_free(unused_times *t);
/* Work around the peak during which nobody reads the buffer; -1: not known. */
int64_t unused_times_of(const unused_times *t, uint32_t buffer);

/* Whether an instruction only renames what others made. */
bool hlo_is_view(vp_str opcode);

#endif
