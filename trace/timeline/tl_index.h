/* The index of a timeline: every event of one host's trace in a form from which a window of any
 * width is drawn without looking at what it does not show. Made of a sealed trace's columns while
 * that is in memory, and holding nothing of it afterwards. The server's routes include this and the
 * other doors of the room (tl_slices.h, tl_find.h, tl_range.h); whoever made an index frees it.
 * Immutable and the same for the same trace, so many threads may read one.
 *
 *   groups (processes) ─< tracks ─< rows ─< blocks of 64 events
 *
 * A row is what is drawn at one height: its events follow each other and never overlap, so their
 * starts and their ends both ascend, and a place in time is a binary search. Nested events lie on
 * rows below one another; those that cross an open one go to a further lane, a stack of rows of its
 * own, as Perfetto does it (docs/reference/perfetto.md#stacking). What no lane takes shares the
 * last row of its track, `overlaps`, and is counted.
 *
 * A block holds its events as records of as many bytes as its largest values need, so an event
 * costs 6 to 15 bytes, a block 64, an attribute 8. Times are the trace's on the host's clock
 * (trace_aligned_start), int64 ps. */
#ifndef VP_TIMELINE_TL_INDEX_H
#define VP_TIMELINE_TL_INDEX_H

#include <string.h>

#include "trace/model/trace.h"

#define TL_BLOCK 64u
/* Blocks whose longest event is known together. */
#define TL_SUPER 64u
/* Lanes of a track, rows of a lane, rows of a track: more are not looked at by anybody. */
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
    uint64_t left_out;              /* those that found no room */
    uint64_t overlaid;              /* of `count`, those of its last row that lie over others */
    int64_t dur_ps;                 /* Σ of what its rows hold */
    int64_t start_ps, end_ps;       /* of its events; start > end: none */
    trace_column *attr[SINK_ATTRS]; /* by order (tl_order); NULL: none has it */
    struct tl_block *blocks;        /* row by row */
    size_t block_count;
    uint32_t *supers; /* row by row, each rounded up: the block of a row, among TL_SUPER, with the
                         longest event */
    size_t super_count;
    uint8_t *bytes; /* the blocks' records, and 8 more, in the order in which blocks became full */
    size_t byte_count;
} tl_track;

/* Up to TL_BLOCK events of a row: `start_w` bytes of a record say how much later than the block an
 * event begins, `dur_w` how long it is, both in units; then come its kind and its order. */
typedef struct tl_block {
    int64_t base_ps;      /* its first event's start */
    int64_t busy_ps;      /* Σ of lengths in the row before the block */
    int64_t end_ps;       /* the last end up to and in the block */
    int64_t longest_ps;   /* of its longest event */
    uint64_t at;          /* its first record in the track's bytes */
    uint32_t first_order; /* of its first event; records hold what others have more */
    uint32_t unit;        /* ps */
    uint32_t longest_kind;
    uint8_t start_w, dur_w, kind_w, order_w, record_w; /* the last is their sum */
    uint8_t longest;                                   /* of its events, the first of equals */
} tl_block;

typedef struct tl_row {
    uint32_t track, lane, depth;
    bool overlaps;
    uint64_t count;
    const tl_block *blocks; /* its own, the track's memory */
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
    uint8_t hue; /* names that differ in numbers only have the same */
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
    uint32_t first_track, first_kind; /* what tracks and kinds are told by: these and their place */
    int64_t start_ps, end_ps;         /* of all events; start > end: there are none */
    int64_t base_unix_ns, file_origin_ns;
    bool partial;
    vp_arena arena; /* of texts */
    vp_intern names;
} tl_index;

/* Of a sealed trace. Events beyond VP_TIMELINE_EVENTS_MAX are counted in left_out. VP_ENOMEM. */
int tl_build(tl_index **out, const trace *t);
/* As tl_build, of a trace whose events nobody reads afterwards: the memory of their starts,
 * durations and kinds goes back to the machine as they are packed, also where it fails, so that the
 * two are never in memory at the same time. */
int tl_build_last(tl_index **out, const trace *t);
void tl_free(tl_index *x);
/* What it takes in memory, in bytes. */
uint64_t tl_bytes(const tl_index *x);

static inline vp_str tl_text(const tl_index *x, vp_sid id)
{
    return vp_intern_get(&x->names, id);
}

/* Of lengths, which a hostile file may make so long that only a few of them fit. */
static inline int64_t tl_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* A number of `width` bytes; 8 may be read from p on. */
static inline uint64_t tl_load(const uint8_t *p, unsigned width)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return width < 8 ? v & ((UINT64_C(1) << 8 * width) - 1) : v;
}

/* The record of a block's event. */
static inline const uint8_t *tl_record(const tl_row *r, const tl_block *b, uint64_t in_block)
{
    return r->bytes + b->at + in_block * b->record_w;
}

/* An event by its row and its number in it. */
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
/* Which of its track's events it is, by their starts; only in tracks that have attributes, and in
 * those of an analysis. */
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
