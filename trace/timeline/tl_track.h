/* Converts one track of a sealed trace into a track of an index: places its events on rows and
 * packs them in one pass. Each building thread has a tl_maker, zeroed before its first track. */
#ifndef VP_TIMELINE_TL_TRACK_H
#define VP_TIMELINE_TL_TRACK_H

#include "trace/timeline/tl_index.h"
#include "trace/timeline/tl_pack.h"
#include "trace/timeline/tl_place.h"

/* Values of one kind, for the tracks of this maker. */
typedef struct tl_calls {
    uint64_t calls;
    int64_t total_ps;
} tl_calls;

/* Buffers that are reused for each track. */
typedef struct tl_maker {
    tl_places places;
    tl_packer packer;
    tl_calls *kinds;  /* by kind of the trace; allocated by the owner */
    size_t pair_from; /* tracks with at least this many events use one more thread, which places
                       * while this one packs */
    bool last;        /* packed events are released (tl_build_last) */
} tl_maker;

/* Fills `out` and *rows (out->row_count of them, freed by the caller) with the first `out->count`
 * (> 0) events of `from`. The caller sets out->first_row. track: the index of out. VP_ENOMEM. */
int tl_track_make(tl_track *out, tl_row **rows, tl_maker *m, const trace_track *from,
                  uint32_t track);
/* Frees the memory of a track. */
void tl_track_free(tl_track *k);
void tl_maker_free(tl_maker *m);

#endif
