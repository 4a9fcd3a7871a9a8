/* Rows of the holders of a peak: the largest by name, the others in one row, and the rest of the
 * peak in another, so that rows add up to it. */
#ifndef VP_ANALYZE_MEMORY_ROWS_H
#define VP_ANALYZE_MEMORY_ROWS_H

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/base/limits.h"

#define MEM_ROWS_MAX 20u /* of an allocator, all together */

typedef struct mem_row {
    uint32_t who; /* number of the holder */
    vp_memory_item item;
} mem_row;

typedef struct mem_rows {
    mem_row *v;
    size_t n, room;
    int64_t others, others_count, sum;
} mem_rows;

/* Allocates rows for this many holders; free them with mem_rows_free. */
int mem_rows_new(mem_rows *r, size_t holders);
void mem_rows_free(mem_rows *r);
/* Holders without bytes are ignored. */
void mem_rows_add(mem_rows *r, uint32_t who, int64_t bytes, int64_t count);
/* Sorts by bytes, and truncates so that a row for the rest fits; the caller names the rows left in
 * v. */
void mem_rows_choose(mem_rows *r);
/* Fills m->top for m->peak_bytes; `rest`: the name for bytes without a holder. */
int mem_rows_give(vp_memory *m, vp_arena *arena, const mem_rows *r, const char *rest);

static inline int64_t mem_us_to_ps(int64_t us)
{
    return us > VP_TIME_MAX_PS / 1000000    ? VP_TIME_MAX_PS
           : us < -VP_TIME_MAX_PS / 1000000 ? -VP_TIME_MAX_PS
                                            : us * 1000000;
}

#endif
