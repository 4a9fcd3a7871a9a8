#include "trace/timeline/tl_index.h"

#include "trace/base/mem.h"
#include "trace/timeline/tl_track.h"

void tl_free(tl_index *x)
{
    if (!x)
        return;
    for (uint32_t i = 0; i < x->track_count; i++)
        tl_track_free(&x->tracks[i]);
    vp_free(x->groups);
    vp_free(x->tracks);
    vp_free(x->rows);
    vp_free(x->kinds);
    vp_intern_free(&x->names);
    vp_arena_free(&x->arena);
    vp_free(x);
}

static uint64_t track_bytes(const tl_track *k)
{
    uint64_t n = sizeof *k + k->block_count * sizeof *k->blocks;
    n += k->super_count * sizeof *k->supers + k->byte_count;
    for (size_t a = 0; a < SINK_ATTRS; a++)
        if (k->attr[a])
            n += trace_column_bytes(k->attr[a]);
    return n;
}

uint64_t tl_bytes(const tl_index *x)
{
    uint64_t n = sizeof *x + x->arena.bytes + x->row_count * sizeof *x->rows;
    n += x->kind_count * sizeof *x->kinds + x->group_count * sizeof *x->groups;
    n += x->names.cap * (sizeof(vp_str) + sizeof(uint32_t)) + x->names.slot_mask * sizeof(uint32_t);
    for (uint32_t i = 0; i < x->track_count; i++)
        n += track_bytes(&x->tracks[i]);
    return n;
}
