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

/* The row of an event; NULL if there is no such event. */
const tl_row *tl_row_of(const tl_index *x, const tl_event *e);

typedef struct tl_query {
    vp_str text;           /* case-insensitive; searched in names, scopes and sources */
    const tl_event *after; /* NULL: at_ps */
    int64_t at_ps;         /* start at the event that begins there or later (backwards: before) */
    bool backwards;
} tl_query;

typedef struct tl_found {
    bool any;
    tl_event event;
    uint64_t total; /* events that match the text, in the whole index */
} tl_found;

/* Finds the next or previous event that matches the text; there may be none. VP_ENOMEM. */
int tl_find(tl_found *out, const tl_index *x, const tl_query *q);

/* Finds up to `max` events: the launch of e and the device ops of that launch (trace/links), and
 * events whose flow goes into or out of e. VP_ENOMEM. */
int tl_linked(tl_event *out, size_t max, size_t *n, const tl_index *x, const tl_event *e);

#endif
