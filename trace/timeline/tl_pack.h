/* Packs the events of one track into blocks, in the order of their starts, each with its row.
 * tl_track owns the packer; it must be zeroed before the first track. */
#ifndef VP_TIMELINE_TL_PACK_H
#define VP_TIMELINE_TL_PACK_H

#include "trace/base/err.h"
#include "trace/timeline/tl_index.h"

/* For one row, the events of its next block. */
typedef struct tl_stage {
    int64_t start_ps[TL_BLOCK];
    uint64_t dur_ps[TL_BLOCK];
    uint32_t kind[TL_BLOCK], order[TL_BLOCK];
    uint32_t n;
    int64_t busy_ps, end_ps; /* over all earlier blocks */
    uint64_t blocks;         /* that are full */
} tl_stage;

typedef struct tl_packed {
    tl_block block;
    uint32_t row;
} tl_packed;

typedef struct tl_packer {
    uint8_t *bytes; /* with 8 bytes of padding */
    size_t byte_count, byte_cap;
    tl_packed *blocks; /* in the order in which they were filled */
    size_t block_count, block_cap;
    tl_stage *rows;
    size_t row_count, row_cap;
    bool ordered; /* records contain the order of events */
} tl_packer;

/* Resets it for the next track, keeping the memory that was not handed over. */
void tl_pack_begin(tl_packer *p, bool ordered);
void tl_pack_free(tl_packer *p);
/* Adds row `row`; all rows before it must exist. VP_ENOMEM. */
int tl_pack_add_row(tl_packer *p, uint32_t row);
/* Writes a block of the pending events of row `row`. VP_ENOMEM. */
int tl_pack_flush(tl_packer *p, uint32_t row);
/* Writes blocks of all pending events. VP_ENOMEM. */
int tl_pack_end(tl_packer *p);

/* Adds the next event, number `order` of the track. VP_ENOMEM. */
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
