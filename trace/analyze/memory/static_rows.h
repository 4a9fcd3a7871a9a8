/* Rows of one memory plan. All rows are in the host's arena. */
#ifndef VP_ANALYZE_STATIC_ROWS_H
#define VP_ANALYZE_STATIC_ROWS_H

#include "trace/analyze/memory/static_replay.h"
#include "trace/analyze/result/analysis.h"

/* A buffer at the peak. */
typedef struct static_live {
    uint32_t buffer; /* HLO_NONE: an allocation without an instruction */
    vp_buffer_kind kind;
    int64_t bytes;
    uint32_t first, last; /* REPLAY_NEVER */
    int64_t unused;       /* result of unused_times_of */
} static_live;

/* Sorted by size, then by name; small ones are combined in one row. */
int static_rows(vp_memory_plan *plan, host_result *h, const hlo_program *p, static_live *live,
                size_t n);
/* "model.py:12" into *out; unchanged if the file has no line. */
int static_source(const char **out, host_result *h, const hlo_instr *in);
/* The live memory over the program's order, by the scopes with the most memory at the peak. */
int static_curve(vp_memory_plan *plan, host_result *h, const hlo_program *p, const heap_replay *r,
                 const static_live *live, size_t n);
/* "jit(f)/block" of "jit(f)/block/dot_general". */
vp_str static_scope(const hlo_program *p, uint32_t buffer);

#endif
