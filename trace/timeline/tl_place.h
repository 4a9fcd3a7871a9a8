/* Assigns each event of a track to a row, for events ordered by (start asc, end desc). It must be
 * zeroed before the first event; the creator frees it. */
#ifndef VP_TIMELINE_TL_PLACE_H
#define VP_TIMELINE_TL_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tl_level {
    int64_t end_ps; /* of its open event */
    uint32_t row;   /* index into tl_places.rows; UINT32_MAX: none yet */
} tl_level;

typedef struct tl_lane {
    tl_level *levels; /* outermost first */
    size_t depth, cap;
    size_t known; /* levels with a row */
} tl_lane;

/* A row, in the order of first events. */
typedef struct tl_spot {
    uint32_t lane, depth;
    bool overlaps;
    uint64_t count;
} tl_spot;

typedef struct tl_places {
    tl_lane *lanes;
    size_t lane_count, lane_cap;
    tl_spot *rows;
    size_t row_count, row_cap;
    uint32_t rest; /* the row for events that fit no lane; 0: none (it is never the first) */
} tl_places;

/* row: the index in p->rows of the row for [start, end). VP_ENOMEM. */
int tl_place(tl_places *p, int64_t start_ps, int64_t end_ps, uint32_t *row);
/* Resets it for the next track and keeps the memory. */
void tl_places_clear(tl_places *p);
void tl_places_free(tl_places *p);

#endif
