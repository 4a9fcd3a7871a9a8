/* Any bytes as a memory snapshot, in windows of any size: the holders of each peak sum to it, and a
 * curve is no longer than it may be. */
#include <stdint.h>
#include <stdlib.h>

#include "trace/analyze/memory/dynamic_snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool ok)
{
    if (!ok)
        abort();
}

static void check(const vp_memory *m)
{
    int64_t sum = 0;
    for (size_t i = 0; i < m->top_count; i++)
        sum += m->top[i].bytes;
    need(m->top_count <= 20 && (sum == m->peak_bytes || m->peak_bytes <= 0));
    need(m->sample_count <= 200 && m->leak_count <= 20);
    for (size_t i = 1; i < m->sample_count; i++)
        need(m->sample_start_ps[i] >= m->sample_start_ps[i - 1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    vp_arena arena;
    rd_stream *in = NULL;
    mem_snapshot s;
    vp_arena_init(&arena);
    need(rd_stream_memory(&in, data, n, n ? data[n - 1] : 0) == 0);
    if (mem_snapshot_read(&s, &arena, in, "fuzz") >= 0)
        for (size_t i = 0; i < s.row_count; i++)
            check(&s.rows[i]);
    rd_stream_close(&in);
    vp_arena_free(&arena);
    return 0;
}
