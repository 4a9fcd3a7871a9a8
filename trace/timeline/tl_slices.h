/* Renders a window of a timeline for a width in pixels: of each row the slices that are wider than
 * a pixel. The others are joined per pixel into runs with a count (the rule of
 * docs/reference/xprof.md#zoom-levels: a slice of at least one pixel is shown, and a shorter one if
 * it is the first on its level within a pixel). Takes O(rows * pixels * log events).
 *
 * The response is little-endian, and every part is a multiple of 4 bytes long:
 *   "VPTL", u32 version 1
 *   i64 from_ps, i64 until_ps, i64 unit_ps     the window; times below are in units from from_ps
 *   u32 px, u32 sections, u32 records, u32 names, u32 rows_left_out, u32 0
 *   sections × { u32 track, u32 row (of the track), u32 lane, u32 depth, u32 flags, u32 records }
 *   records × { u32 start, u32 dur, u32 kind, u32 index (of the row), u32 count, u16 busy, u8 hue,
 *               u8 flags }
 *   names × { u32 kind, u32 bytes, text, 0 to 3 zero bytes }
 * Sections are in order, and so are the records of each. count 1: a slice, cut to the window. A
 * higher count is a run from the start of its first event to the end of its last; index is that of
 * the first, kind and hue are those of the longest. In a section of overlaps a record combines the
 * events that begin in one pixel and ends with the last of them, so ends do not ascend. Its first
 * record may combine events that began before the window; then only the first event is known.
 * busy: the covered share of the record, of 65535. Names are those of slices that are wide enough
 * for a label. */
#ifndef VP_TIMELINE_TL_SLICES_H
#define VP_TIMELINE_TL_SLICES_H

#include "trace/base/buf.h"
#include "trace/timeline/tl_index.h"

/* Minimum width of a slice with a label, in pixels. */
#define TL_LABEL_PX 12
enum { TL_SECTION_OVERLAPS = 1 };
enum { TL_RECORD_CUT_LEFT = 1, TL_RECORD_CUT_RIGHT = 2, TL_RECORD_OP = 4 };

/* All rows of a track, or consecutive ones. */
typedef struct tl_wanted {
    uint32_t track;
    uint32_t rows;  /* maximum; UINT32_MAX: all */
    uint32_t first; /* row of the track */
} tl_wanted;

typedef struct tl_window {
    int64_t from_ps, until_ps; /* until > from */
    uint32_t px;               /* > 0; reduced if rows × px > VP_TIMELINE_CELLS_MAX */
    const tl_wanted *tracks;   /* below x->track_count */
    size_t track_count;
} tl_window;

int tl_slices(vp_buf *out, const tl_index *x, const tl_window *w);

/* The first event of a row that ends after `ps` or begins at it; r->count: none. */
uint64_t tl_first_at(const tl_row *r, int64_t ps);
/* The first event of a row that begins at `ps` or later, searched from event i on. */
uint64_t tl_first_from(const tl_row *r, uint64_t i, int64_t ps);

#endif
