/* Which events of a timeline are exported: those in a window, or the longest; and as which of
 * several hosts. Whoever exports includes this, and owns the pick until its stream is closed. */
#ifndef VP_EXPORT_PICK_H
#define VP_EXPORT_PICK_H

#include <stdbool.h>
#include <stdint.h>

/* How many slices there are of each length: 16 steps from one power of two to the next. */
#define EX_LENGTHS (60 * 16)

typedef struct pft_host pft_host;
struct cat_file;
struct ex_added;

typedef struct ex_pick {
    struct ex_added *added;    /* written behind the trace's own events; may be NULL */
    bool window;               /* only what reaches into [from_ns, until_ns) */
    int64_t from_ns, until_ns; /* since the trace's first event */
    const pft_host *host;      /* of a .pftrace of several (pftrace/pft_host.h); NULL: of one */
    uint64_t most;             /* slices at most, the longest of the trace; 0: all */
    bool early; /* the stream of a large file begins before all of it was seen (stream_out.h) */
    /* What the exporter makes of it, and what it left out. */
    const struct cat_file *file; /* the half that is exported */
    int64_t first_ns;            /* the trace's first event, in exported times */
    int64_t moved_ns;            /* what those are more than the file's */
    uint64_t count[EX_LENGTHS];
    int64_t least_ns; /* shorter ones are left out */
    uint64_t left_out;
} ex_pick;

/* A slice of the trace, before it is decided. */
void ex_pick_count(ex_pick *p, int64_t length_ns);
/* All were counted; the first event is at first_ns, and the window counts from there. */
void ex_pick_decide(ex_pick *p, int64_t first_ns);
/* Whether a slice is exported; counts those that are not. p may be NULL: all are. */
bool ex_pick_takes(ex_pick *p, int64_t start_ns, int64_t end_ns);
/* The same for a moment, such as a counter's. */
bool ex_pick_shows(ex_pick *p, int64_t at_ns);

#endif
