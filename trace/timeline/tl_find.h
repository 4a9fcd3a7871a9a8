/* Searches an index: for events by text, and for related events (launch and kernel, producer and
 * consumer). The caller owns the output. */
#ifndef VP_TIMELINE_TL_FIND_H
#define VP_TIMELINE_TL_FIND_H

#include "trace/timeline/tl_index.h"

/* An event of an index. Events are ordered by (start, track, row, index). */
typedef struct tl_event {
    uint32_t track, row; /* row of the track */
    uint64_t index;      /* of the row */
} tl_event;

/* The row of an event; NULL when there is no such event. */
const tl_row *tl_row_of(const tl_index *x, const tl_event *e);

typedef struct tl_query {
    vp_str text;           /* in any case; looked for in names, scopes and sources */
    const tl_event *after; /* NULL: at_ps */
    int64_t at_ps;         /* from the event that begins there or later (backwards: before) */
    bool backwards;
} tl_query;

typedef struct tl_found {
    bool any;
    tl_event event;
    uint64_t total; /* events that the text fits, in the whole index */
} tl_found;

/* The next event of the text, or the previous one; beyond the end there is none. VP_ENOMEM. */
int tl_find(tl_found *out, const tl_index *x, const tl_query *q);

/* Up to `max` events that have the same correlation, or whose flow goes into or out of e, nearest
 * rows first. */
size_t tl_linked(tl_event *out, size_t max, const tl_index *x, const tl_event *e);

#endif
