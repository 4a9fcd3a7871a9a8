/* Selects the events to export: those in a window, or the longest; and which of several hosts they
 * belong to. The caller owns the selection until the stream is closed. */
#ifndef VP_EXPORT_PICK_H
#define VP_EXPORT_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Slices of one length, or one behind the other that are. */
typedef struct ex_length {
    int64_t ns;
    uint64_t count;
} ex_length;

typedef struct pft_host pft_host;
struct cat_file;
struct ex_added;

typedef struct ex_pick {
    struct ex_added *added;    /* written behind the trace's own events; may be NULL */
    bool window;               /* only what reaches into [from_ns, until_ns) */
    int64_t from_ns, until_ns; /* since the trace's first event */
    const pft_host *host;      /* of a .pftrace of several (pftrace/pft_host.h); NULL: of one */
    uint64_t most;             /* so many slices, the longest of the trace; 0: all */
    bool early; /* the stream of a large file begins before all of it was seen (stream_out.h) */
    /* What the exporter makes of it, and what it left out. */
    const struct cat_file *file; /* the half that is exported */
    int64_t first_ns;            /* the trace's first event, in exported times */
    int64_t moved_ns;            /* what those are more than the file's */
    ex_length *lengths;          /* of the longest; those before `settled` descend */
    size_t length_count, settled, length_cap;
    bool full;        /* they are `most` slices or more, none longer than least_ns is missing */
    bool cut;         /* once decided: there are more slices than `most` */
    int64_t least_ns; /* shorter ones are left out then */
    uint64_t spare;   /* and so many of that length taken: the trace's first */
    uint64_t last;    /* or those whose number is not above this */
    uint64_t left_out;
    /* And what is in the file but cannot be said in the form, as its end tells it, too. */
    uint64_t missing_events, missing_flows;
} ex_pick;

/* Whether anything may be left out. p may be NULL. */
static inline bool ex_pick_limits(const ex_pick *p)
{
    return p && (p->window || p->most);
}

/* A slice of the trace, before it is decided. Costs 16 bytes for each of the longest lengths, as
 * many as make `most` slices, VP_PICK_LENGTHS_MAX of them; beyond these `most` is lowered. 0 or
 * VP_ENOMEM. p may be NULL. */
int ex_pick_count(ex_pick *p, int64_t length_ns);
/* All were counted; the first event is at first_ns, and the window counts from there. */
void ex_pick_decide(ex_pick *p, int64_t first_ns);
/* Whether a slice is exported; counts those that are not. Of slices that are equally long the first
 * that are asked for are the longest. p may be NULL: all are. */
bool ex_pick_takes(ex_pick *p, int64_t start_ns, int64_t end_ns);
/* The same where the least numbers are the longest: those up to p->last. */
bool ex_pick_takes_number(ex_pick *p, int64_t start_ns, int64_t end_ns, uint64_t number);
/* The same for a moment, such as a counter's. */
bool ex_pick_shows(ex_pick *p, int64_t at_ns);
/* What was counted and not decided, where that fails. p may be NULL. */
void ex_pick_forget(ex_pick *p);

#endif
