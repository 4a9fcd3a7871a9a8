/* Selects the events to export: those in a window, or the longest; and which of several hosts they
 * belong to. The caller owns the selection until the stream is closed. */
#ifndef VP_EXPORT_PICK_H
#define VP_EXPORT_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of slices of one length, or of consecutive lengths. */
typedef struct ex_length {
    int64_t ns;
    uint64_t count;
} ex_length;

typedef struct pft_host pft_host;
struct cat_file;
struct ex_added;

typedef struct ex_pick {
    struct ex_added *added;    /* tracks to append to the trace's own events; may be NULL */
    bool window;               /* only events that overlap [from_ns, until_ns) */
    int64_t from_ns, until_ns; /* relative to the first event of the trace */
    const pft_host *host;      /* the host in a .pftrace of several (pftrace/pft_host.h); NULL:
                                * single host */
    uint64_t most; /* the number of slices to export, the longest of the trace; 0: all */
    bool early;    /* the stream of a large file begins before all of it was read (stream_out.h) */
    /* Results of the exporter: */
    const struct cat_file *file; /* the half that is exported */
    int64_t first_ns;            /* the first event of the trace, in exported times */
    int64_t moved_ns;            /* offset of those from times of the file */
    ex_length *lengths;          /* lengths of the longest slices; those before `settled` descend */
    size_t length_count, settled, length_cap;
    bool full; /* they are at least `most` slices, and none longer than least_ns is missing */
    bool cut;  /* after deciding: there are more slices than `most` */
    int64_t least_ns; /* minimum length of exported slices */
    uint64_t spare;   /* and the number of that length to export: the first of the trace */
    uint64_t last;    /* or those with ids up to this */
    uint64_t left_out;
    /* Also includes what the format cannot express, which is known at the end. */
    uint64_t missing_events, missing_flows;
} ex_pick;

/* Returns whether anything may be left out. p may be NULL. */
static inline bool ex_pick_limits(const ex_pick *p)
{
    return p && (p->window || p->most);
}

/* Counts a slice of the trace before deciding. Memory: 16 bytes for each of the longest lengths, up
 * to `most` slices and VP_PICK_LENGTHS_MAX lengths; beyond these `most` is reduced. 0 or VP_ENOMEM.
 * p may be NULL. */
int ex_pick_count(ex_pick *p, int64_t length_ns);
/* Decides after all were counted; the first event is at first_ns, to which the window is relative.
 */
void ex_pick_decide(ex_pick *p, int64_t first_ns);
/* Returns whether a slice is exported; counts those that are not. Among equally long slices the
 * first calls win. p may be NULL: all are exported. */
bool ex_pick_takes(ex_pick *p, int64_t start_ns, int64_t end_ns);
/* The same, but the smallest ids win: those up to p->last. */
bool ex_pick_takes_number(ex_pick *p, int64_t start_ns, int64_t end_ns, uint64_t number);
/* The same for a point in time, such as a counter value. */
bool ex_pick_shows(ex_pick *p, int64_t at_ns);
/* Frees the counts if the export fails before deciding. p may be NULL. */
void ex_pick_forget(ex_pick *p);

#endif
