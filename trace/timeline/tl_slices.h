/* A window of a timeline, as many pixels wide as somebody sees: of each row the slices that are
 * wider than a pixel, and the others joined, pixel by pixel, into runs that say how many there are
 * (the rule of docs/reference/xprof.md#zoom-levels: what is as long as a pixel is shown, and what
 * is shorter where it is the first on its level since one). Made in O(rows * pixels * log events).
 * The server's routes include this.
 *
 * The answer, little-endian, every part a multiple of 4 bytes long:
 *   "VPTL", u32 version 1
 *   i64 from_ps, i64 until_ps, i64 unit_ps     the window; times below are in units from from_ps
 *   u32 px, u32 sections, u32 records, u32 names, u32 rows_left_out, u32 0
 *   sections × { u32 track, u32 row (of the track), u32 lane, u32 depth, u32 flags, u32 records }
 *   records × { u32 start, u32 dur, u32 kind, u32 index (of the row), u32 count, u16 busy, u8 hue,
 *               u8 flags }
 *   names × { u32 kind, u32 bytes, text, 0 to 3 zero bytes }
 * A section's records follow each other, and the sections' in their order. count 1: a slice, cut to
 * the window. More: a run, from its first event's start to its last one's end, index is the
 * first's, kind and hue are the longest's. In a section of overlaps a record is what begins in one
 * pixel, however long, to the longest's end, and the first may be what began before the window:
 * of its events only the first is known then. Their ends do not ascend. busy: how much of the
 * record is covered, of 65535. Names are those of slices that are wide enough to be labelled. */
#ifndef VP_TIMELINE_TL_SLICES_H
#define VP_TIMELINE_TL_SLICES_H

#include "trace/base/buf.h"
#include "trace/timeline/tl_index.h"

/* Pixels from which on a slice is labelled. */
#define TL_LABEL_PX 12
enum { TL_SECTION_OVERLAPS = 1 };
enum { TL_RECORD_CUT_LEFT = 1, TL_RECORD_CUT_RIGHT = 2, TL_RECORD_OP = 4 };

/* Of a track all rows, or some that follow each other. */
typedef struct tl_wanted {
    uint32_t track;
    uint32_t rows;  /* at most; UINT32_MAX: all */
    uint32_t first; /* row of the track */
} tl_wanted;

typedef struct tl_window {
    int64_t from_ps, until_ps; /* until > from */
    uint32_t px;               /* > 0; fewer where rows × px > VP_TIMELINE_CELLS_MAX */
    const tl_wanted *tracks;   /* below x->track_count */
    size_t track_count;
} tl_window;

int tl_slices(vp_buf *out, const tl_index *x, const tl_window *w);

/* The first event of a row that ends behind `ps`, or begins there; r->count: none does. */
uint64_t tl_first_at(const tl_row *r, int64_t ps);
/* The first event of a row that begins at `ps` or later, looked for from event i on. */
uint64_t tl_first_from(const tl_row *r, uint64_t i, int64_t ps);

#endif
