/* The index of a timeline: every event of one host's trace in a form from which a window of any
 * width is drawn without reading the events that are not visible. It is made from the columns of a
 * sealed trace and does not refer to them afterwards. The caller frees it. Immutable and
 * reproducible, so several threads may read it. Related public headers: tl_slices.h, tl_find.h,
 * tl_range.h.
 *
 *   groups (processes) ─< tracks ─< rows ─< blocks of 64 events
 *
 * A row is drawn at one height: its events never overlap, so their starts and their ends both
 * ascend, and a time is found by binary search. Nested events are on rows below each other. Events
 * that cross an open one go to another lane, a separate stack of rows, as in Perfetto
 * (docs/reference/perfetto.md#stacking). Events that fit no lane share the last row of their track,
 * `overlaps`, and are counted.
 *
 * A block stores its events as records that are as wide as its largest values need. An event takes
 * 6 to 15 bytes, a block 64, an attribute 8. Times are those of the trace on the host's clock
 * (trace_aligned_start), int64 ps. */
#ifndef VP_TIMELINE_TL_INDEX_H
#define VP_TIMELINE_TL_INDEX_H

#include <string.h>

#include "trace/model/trace.h"

#define TL_BLOCK 64u
/* Number of blocks per entry of the table of longest events. */
#define TL_SUPER 64u
/* Lanes of a track, rows of a lane, rows of a track: the maximum that is shown. */
#define TL_LANES_MAX 128u
#define TL_DEPTH_MAX 1000u
#define TL_ROWS_MAX 4096u

typedef struct tl_group {
    vp_sid name, model;
    int64_t id;
    sink_process_kind kind;
    bool has_ops; /* a device */
} tl_group;

typedef struct tl_track {
    uint32_t group;
    vp_sid name;
    int64_t id;
    sink_role role;
    uint32_t first_row, row_count, lane_count;
    uint64_t count;                 /* events in its rows */
    uint64_t left_out;              /* those without a row */
    uint64_t overlaid;              /* of `count`, those in the last row that overlap others */
    int64_t dur_ps;                 /* Σ memory of its rows */
    int64_t start_ps, end_ps;       /* range of its events; start > end: none */
    trace_column *attr[SINK_ATTRS]; /* by order (tl_order); NULL: no event has any */
    struct tl_block *blocks;        /* row by row */
    size_t block_count;
    uint32_t *supers; /* by row, rounded up: the block with the longest event, of TL_SUPER blocks */
    size_t super_count;
    uint8_t *bytes; /* records of the blocks, and 8 bytes more, in the order in which blocks were
                     * filled */
    size_t byte_count;
} tl_track;

/* Up to TL_BLOCK events of a row. A record has `start_w` bytes for the start relative to the block,
 * `dur_w` bytes for the duration, both in units, then its kind and its order. */
typedef struct tl_block {
    int64_t base_ps;      /* start of its first event */
    int64_t busy_ps;      /* Σ of durations in the row before this block */
    int64_t end_ps;       /* maximum end up to and including this block */
    int64_t longest_ps;   /* duration of its longest event */
    uint64_t at;          /* offset of its first record in the track's bytes */
    uint32_t first_order; /* minimum over its events; records store differences to it */
    uint32_t unit;        /* ps */
    uint32_t longest_kind;
    uint8_t start_w, dur_w, kind_w, order_w, record_w; /* record width; the last is the sum of the
                                                        * others */
    uint8_t longest; /* of its longest event, the first of equals */
} tl_block;

typedef struct tl_row {
    uint32_t track, lane, depth;
    bool overlaps;
    uint64_t count;
    const tl_block *blocks; /* private memory of the track */
    const uint32_t *supers;
    const uint8_t *bytes; /* the track's */
} tl_row;

typedef struct tl_kind {
    vp_sid name, long_name, category, opcode, hlo_op, module, scope, source, shape;
    vp_sid op_inner, op_outer; /* operators that launched it, as in trace_kind */
    int64_t program_id, bytes, flops;
    uint64_t calls;
    int64_t total_ps;
    bool is_op, unfinished;
    uint8_t hue; /* the same for names that differ only in numbers */
} tl_kind;

typedef struct tl_index {
    tl_group *groups;
    uint32_t group_count;
    tl_track *tracks;
    uint32_t track_count;
    tl_row *rows;
    size_t row_count;
    uint64_t event_count, left_out;
    tl_kind *kinds;
    uint32_t kind_count;
    uint32_t first_track, first_kind; /* identifiers of tracks and kinds for merging: these and
                                       * their position */
    int64_t start_ps, end_ps;         /* range of all events; start > end: no events */
    int64_t base_unix_ns, file_origin_ns;
    bool partial;
    vp_arena arena; /* of texts */
    vp_intern names;
} tl_index;

/* Builds an index from a sealed trace. Events beyond VP_TIMELINE_EVENTS_MAX are counted in
 * left_out. VP_ENOMEM. */
int tl_build(tl_index **out, const trace *t);
/* As tl_build, for a trace whose events are not needed afterwards: the memory of their starts,
 * durations and kinds is released as they are packed, even on failure, so that both never exist
 * completely at the same time. */
int tl_build_last(tl_index **out, const trace *t);
void tl_free(tl_index *x);
/* Size in memory, in bytes. */
uint64_t tl_bytes(const tl_index *x);

static inline vp_str tl_text(const tl_index *x, vp_sid id)
{
    return vp_intern_get(&x->names, id);
}

/* For texts; a hostile file may have names so long that only a few fit. */
static inline int64_t tl_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Reads a number of `width` bytes; 8 bytes must be readable from p on. */
static inline uint64_t tl_load(const uint8_t *p, unsigned width)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return width < 8 ? v & ((UINT64_C(1) << 8 * width) - 1) : v;
}

/* The record of an event of a block. */
static inline const uint8_t *tl_record(const tl_row *r, const tl_block *b, uint64_t in_block)
{
    return r->bytes + b->at + in_block * b->record_w;
}

/* An event by its row and its index in it. */
static inline int64_t tl_start(const tl_row *r, uint64_t i)
{
    const tl_block *b = &r->blocks[i / TL_BLOCK];
    uint64_t late = tl_load(tl_record(r, b, i % TL_BLOCK), b->start_w) * b->unit;
    return (int64_t)((uint64_t)b->base_ps + late);
}
static inline int64_t tl_dur(const tl_row *r, uint64_t i)
{
    const tl_block *b = &r->blocks[i / TL_BLOCK];
    return (int64_t)(tl_load(tl_record(r, b, i % TL_BLOCK) + b->start_w, b->dur_w) * b->unit);
}
static inline int64_t tl_end(const tl_row *r, uint64_t i)
{
    return tl_start(r, i) + tl_dur(r, i);
}
static inline uint32_t tl_kind_of(const tl_row *r, uint64_t i)
{
    const tl_block *b = &r->blocks[i / TL_BLOCK];
    return (uint32_t)tl_load(tl_record(r, b, i % TL_BLOCK) + b->start_w + b->dur_w, b->kind_w);
}
/* Its index among the events of its track, by start; only in tracks with attributes, and in
 * analysis tracks. */
static inline uint32_t tl_order(const tl_row *r, uint64_t i)
{
    const tl_block *b = &r->blocks[i / TL_BLOCK];
    const uint8_t *at = tl_record(r, b, i % TL_BLOCK) + b->start_w + b->dur_w + b->kind_w;
    return b->first_order + (uint32_t)tl_load(at, b->order_w);
}
/* An attribute of an event, or SINK_NO_VALUE. */
static inline int64_t tl_attr(const tl_index *x, const tl_row *r, sink_attr a, uint64_t i)
{
    const trace_column *c = x->tracks[r->track].attr[a];
    return c ? trace_column_get(c, tl_order(r, i), SINK_NO_VALUE) : SINK_NO_VALUE;
}

#endif
