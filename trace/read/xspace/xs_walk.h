/* The first pass over a line: what its header says, how many events it has, and where it may be cut
 * between them. Nothing of an event is looked at but its length.
 *
 * A long line is gone over in stretches, by any thread and in any order. Where a stretch begins
 * nobody knows before the one in front of it was gone over, so it is guessed: fields follow each
 * other like links of a chain, and a chain that was entered anywhere soon meets the true one. The
 * guess is proved when the stretch in front ends exactly there; where it does not, the rest of the
 * line is gone over again, in order. So what is found does not depend on the guesses. */
#ifndef VP_READ_XS_WALK_H
#define VP_READ_XS_WALK_H

#include "trace/read/xspace/xs_read.h"

/* How long stretches are. A line shorter than a quarter of that is not worth handing over. */
#define XS_STRETCH_BYTES (INT64_C(4) << 20)
/* The window through which a thread goes over them. */
#define XS_WALK_WINDOW (256u << 10)

/* What the fields beside the events say, as far as they were met. */
typedef struct xs_head {
    bool has_id, has_timestamp;
    int64_t id, timestamp_ns;
    uint16_t name_n, display_n;   /* 0: none met */
    char name[256], display[256]; /* the first and the last that were not empty; cut */
} xs_head;

/* Where a run ends, and how many events of its stretch end there or before. */
typedef struct xs_cut {
    int64_t end;
    uint64_t events;
} xs_cut;

/* All zero but for its bounds before it is gone over. Owns its cuts. */
typedef struct xs_stretch {
    int64_t from, to, line_end; /* of the source: its share of the line, and where that ends */
    bool first;                 /* of its line, which begins at `from` */
    int64_t begin, end; /* it went from here up to here; begin -1: to be gone over with the one in
                           front */
    bool damaged;       /* at `end` */
    uint64_t events;
    xs_cut *cuts; /* the last is its end */
    size_t n, cap;
    xs_head head;
    int status; /* of going over it, with its error; damage is none, and is where it ends */
    vp_error error;
} xs_stretch;

/* Goes over it; its status says how that went. */
void xs_stretch_walk(xs_stretch *s, xs_window *w);
/* The same from `begin` on, to the end of the line. */
void xs_stretch_walk_from(xs_stretch *s, xs_window *w, int64_t begin);
void xs_stretch_free(xs_stretch *s);
/* Adds what the head of a later stretch says. */
void xs_head_add(xs_head *h, const xs_head *later);

#endif
