/* Packs the events of one track into blocks, in the order of their starts, each with its row.
 * tl_track owns the packer; it must be zeroed before the first track. */
#ifndef VP_TIMELINE_TL_PACK_H
#define VP_TIMELINE_TL_PACK_H

#include "trace/base/err.h"
#include "trace/timeline/tl_index.h"

/* Of one row, the events that its next block will hold. */
typedef struct tl_stage {
    int64_t start_ps[TL_BLOCK];
    uint64_t dur_ps[TL_BLOCK];
    uint32_t kind[TL_BLOCK], order[TL_BLOCK];
    uint32_t n;
    int64_t busy_ps, end_ps; /* of the blocks before */
    uint64_t blocks;         /* that are full */
} tl_stage;

typedef struct tl_packed {
    tl_block block;
    uint32_t row;
} tl_packed;

typedef struct tl_packer {
    uint8_t *bytes; /* with room for 8 more */
    size_t byte_count, byte_cap;
    tl_packed *blocks; /* in the order in which they became full */
    size_t block_count, block_cap;
    tl_stage *rows;
    size_t row_count, row_cap;
    bool ordered; /* records hold the order of events */
} tl_packer;

/* Makes it as new for the next track, and keeps what memory is not given away. */
void tl_pack_begin(tl_packer *p, bool ordered);
void tl_pack_free(tl_packer *p);
/* Makes room for row `row` (all before it are there). VP_ENOMEM. */
int tl_pack_add_row(tl_packer *p, uint32_t row);
/* Makes a block of what row `row` has waiting. VP_ENOMEM. */
int tl_pack_flush(tl_packer *p, uint32_t row);
/* Makes blocks of all that waits. VP_ENOMEM. */
int tl_pack_end(tl_packer *p);

/* The next event, the `order`-th of the track. VP_ENOMEM. */
static inline int tl_pack_put(tl_packer *p, uint32_t row, int64_t start_ps, int64_t dur_ps,
                              uint32_t kind, uint32_t order)
{
    if (row >= p->row_count)
        VP_TRY(tl_pack_add_row(p, row));
    tl_stage *s = &p->rows[row];
    s->start_ps[s->n] = start_ps;
    s->dur_ps[s->n] = (uint64_t)dur_ps;
    s->kind[s->n] = kind;
    s->order[s->n] = order;
    return ++s->n == TL_BLOCK ? tl_pack_flush(p, row) : 0;
}

#endif
