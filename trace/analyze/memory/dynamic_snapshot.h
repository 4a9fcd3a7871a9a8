/* A PyTorch memory snapshot as rows of the report: per device the contents of its blocks, and with
 * a history the peak, its holders, and memory not freed after steps. Rows are in the report's
 * arena. */
#ifndef VP_ANALYZE_DYNAMIC_SNAPSHOT_H
#define VP_ANALYZE_DYNAMIC_SNAPSHOT_H

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/read/bytes/byte_stream.h"

typedef struct mem_snapshot {
    vp_memory *rows; /* in the arena */
    size_t row_count;
    int64_t first_unix_ns; /* origin of the rows' times in its history; VP_UNKNOWN */
    int64_t cut_at;        /* offset of damage in the file; -1: intact */
    int64_t odd;           /* number of skipped blocks and entries */
} mem_snapshot;

/* file: its name, for the names of rows. Fails as ts_read. */
int mem_snapshot_read(mem_snapshot *out, vp_arena *arena, rd_stream *in, const char *file);

#endif
