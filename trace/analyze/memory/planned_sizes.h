/* Joins allocations with the memory plan of a program. A runtime allocates blocks of planned sizes:
 * one per result, and one for all temporaries. An allocation is joined if exactly one planned block
 * of an executed program has its size. */
#ifndef VP_ANALYZE_PLANNED_SIZES_H
#define VP_ANALYZE_PLANNED_SIZES_H

#include "trace/analyze/result/host_result.h"
#include "trace/base/str.h"

typedef struct planned_size {
    int64_t bytes;
    const vp_memory_plan *plan;
    const vp_plan_buffer *result; /* NULL: the temporaries */
} planned_size;

typedef struct planned_sizes {
    planned_size *v; /* by bytes */
    size_t n, cap;
} planned_sizes;

/* For h->memory_static, which must not change. 0 or VP_ENOMEM; free it also on failure. */
int planned_sizes_new(planned_sizes *s, const host_result *h);
void planned_sizes_free(planned_sizes *s);
/* 1 + the index of the planned block of an allocation made by `call` ("PjitFunction(f)": only
 * blocks of jit_f); 0: unknown, or ambiguous. */
uint32_t planned_sizes_find(const planned_sizes *s, int64_t bytes, vp_str call);
/* The same for memory that a TPU reserves for its programs: the temporaries of one, and 16 MiB. */
uint32_t planned_sizes_of_stack(const planned_sizes *s, int64_t bytes);
/* "jit_f: temporaries", "jit_f: result fusion.2"; NULL for 0. VP_ENOMEM. */
int planned_sizes_text(const char **out, host_result *h, const planned_sizes *s, uint32_t found);

#endif
