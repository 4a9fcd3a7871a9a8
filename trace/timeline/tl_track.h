/* Converts one track of a sealed trace into a track of an index: places its events on rows and
 * packs them in one pass. Each building thread has a tl_maker, zeroed before its first track. */
#ifndef VP_TIMELINE_TL_TRACK_H
#define VP_TIMELINE_TL_TRACK_H

#include "trace/timeline/tl_index.h"
#include "trace/timeline/tl_pack.h"
#include "trace/timeline/tl_place.h"

/* Of one kind, what this maker's tracks have. */
typedef struct tl_calls {
    uint64_t calls;
    int64_t total_ps;
} tl_calls;

/* What is used for one track after the other. */
typedef struct tl_maker {
    tl_places places;
    tl_packer packer;
    tl_calls *kinds; /* by kind of the trace, the owner's to make */
    size_t
        pair_from; /* of tracks with so many events one thread more places while this one packs */
    bool last;     /* packed events are forgotten (tl_build_last) */
} tl_maker;

/* Fills `out` and *rows (the caller's to free, out->row_count of them) with the first `out->count`
 * (> 0) events of `from`. out->first_row is left to the caller. track: out's number. VP_ENOMEM. */
int tl_track_make(tl_track *out, tl_row **rows, tl_maker *m, const trace_track *from,
                  uint32_t track);
/* Frees what a track owns. */
void tl_track_free(tl_track *k);
void tl_maker_free(tl_maker *m);

#endif
