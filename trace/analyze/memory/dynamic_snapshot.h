/* A PyTorch memory snapshot as rows of the report: per device the contents of its blocks, and with
 * a history the peak, its holders, and memory that steps leave. Rows are in the report's arena. */
#ifndef VP_ANALYZE_DYNAMIC_SNAPSHOT_H
#define VP_ANALYZE_DYNAMIC_SNAPSHOT_H

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/read/bytes/byte_stream.h"

typedef struct mem_snapshot {
    vp_memory *rows; /* in the arena */
    size_t row_count;
    int64_t first_unix_ns; /* of its history, at which the rows' times are 0; VP_UNKNOWN */
    int64_t cut_at;        /* a byte of the file; -1: it is whole */
    int64_t odd;           /* blocks and entries that were left out */
} mem_snapshot;

/* file: its name, for the rows' names. Fails as ts_read. */
int mem_snapshot_read(mem_snapshot *out, vp_arena *arena, rd_stream *in, const char *file);

#endif
