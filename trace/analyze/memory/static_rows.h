/* Rows of one memory plan. All rows are in the host's arena. */
#ifndef VP_ANALYZE_STATIC_ROWS_H
#define VP_ANALYZE_STATIC_ROWS_H

#include "trace/analyze/memory/static_replay.h"
#include "trace/analyze/result/analysis.h"

/* A buffer at the peak. */
typedef struct static_live {
    uint32_t buffer; /* HLO_NONE: an allocation that names none */
    vp_buffer_kind kind;
    int64_t bytes;
    uint32_t first, last; /* REPLAY_NEVER */
    int64_t unused;       /* as unused_times_of says it */
} static_live;

/* The largest first, then by name; smaller ones than are kept together in one row. */
int static_rows(vp_memory_plan *plan, host_result *h, const hlo_program *p, static_live *live,
                size_t n);
/* "model.py:12" into *out; left as it is where the file names no line. */
int static_source(const char **out, host_result *h, const hlo_instr *in);
/* What is live over the program's order, by the scopes that hold most of the peak. */
int static_curve(vp_memory_plan *plan, host_result *h, const hlo_program *p, const heap_replay *r,
                 const static_live *live, size_t n);
/* "jit(f)/block" of "jit(f)/block/dot_general". */
vp_str static_scope(const hlo_program *p, uint32_t buffer);

#endif
