/* A part of an XSpace: stretches of lines ("runs"), cut between events, which any thread decodes
 * into the room of their line, where they stay. What needs an order (kinds, tracks, ops of XLA:CPU,
 * args) is only noted, and done when the part is joined (xs_join.c), part by part in the file's
 * order: so the sink hears the same, however many threads decode. A part owns its memory and is
 * used again and again. */
#ifndef VP_READ_XS_PART_H
#define VP_READ_XS_PART_H

#include "trace/read/xspace/xs_read.h"

/* A part is closed once it has so many bytes, events or runs. A run is cut there, too. */
#define XS_PART_BYTES (128u << 10)
#define XS_PART_EVENTS 8192u
#define XS_PART_RUNS 64u
/* Each event makes two kinds at most, and a run as large as a part may be the last. */
_Static_assert(4 * XS_PART_EVENTS < SINK_PACKED_WIDE, "kinds of a part are packed with its events");

/* What a part's events share, by the order in which its run meets them. */
typedef struct xs_part_kind {
    uint64_t key;  /* 0: the metadata's own kind */
    uint32_t meta; /* index into the plane's; SINK_NONE: unknown */
    bool cpu_op;
    size_t event, event_n; /* the event that met it first, in the part's bytes */
    sink_longest longest;  /* of its run; filled where the reader leaves columns out for it */
} xs_part_kind;

typedef enum xs_special_what {
    XS_SPECIAL_ARGS, /* an event of our own recordings, which stays where it is, says something */
    XS_SPECIAL_LOST, /* a mark of lost zones, for a track of its own */
    XS_SPECIAL_ALLOCATOR, /* an event of an allocator, for its track */
} xs_special_what;

typedef struct xs_special {
    xs_special_what what;
    uint32_t kind; /* of the part */
    int64_t start_ps, dur_ps;
    size_t event, event_n; /* in the part's bytes */
} xs_special;

/* Where a line's events go: the reader makes it, and gives it up once all of them are joined. */
typedef struct xs_room {
    sink_room m;
    bool opened; /* its track is known: */
    uint32_t track;
    struct xs_room *next;
} xs_room;

/* What of packed events does not fit, of one clock: the lists of sink_stretch, run by run. */
typedef struct xs_beside {
    int64_t *longs;
    sink_far *far;
    size_t long_n, long_cap, far_n, far_cap;
} xs_beside;

/* A run's events of one clock: those of a stretch, of whose lists what it has is from `long_first`
 * and `far_first` on. */
typedef struct xs_clock {
    sink_stretch s;
    size_t long_first, far_first;
    int64_t last_ps;
} xs_clock;

/* Some events of one line; what it has in the part's arrays begins where the run before it ends. */
typedef struct xs_run {
    xs_line_ctx line;
    int64_t offset, end; /* in the source; empty: the line or the plane is only opened */
    bool opens_process, opens_track, closes_track;
    uint64_t events; /* at most */
    xs_room *room;   /* NULL: none of its events is kept */
    uint64_t at;     /* its place there */
    bool sorted;     /* no event stands before the one in front of it */
    bool own_clock;  /* an event has the device's own times */
    xs_clock own;    /* what is in the room */
    xs_clock other;  /* on the host's clock, where it has one of its own */
    int64_t first_dur_ps;
    size_t kind_end, value_end, special_end, op_end, cpu_end_end;
} xs_run;

typedef struct xs_part {
    xs_run *runs;
    size_t run_n, run_cap;
    uint64_t bytes_wanted, events_wanted;
    uint8_t *bytes; /* of the runs, one behind the other */
    size_t bytes_n, bytes_cap;
    xs_part_kind *kinds;
    size_t kind_n, kinds_cap;
    sink_value *values;
    size_t value_n, value_cap;
    xs_beside own, other; /* the other is the host's */
    xs_special *specials;
    size_t special_n, special_cap;
    xs_cpu_op *ops; /* their kinds are the part's, their devices ordinals */
    size_t op_n, op_cap;
    xs_cpu_end *ends;
    size_t end_n, end_cap;
    sink_longest *longest; /* of the run being joined */
    size_t longest_cap;
    uint32_t *global; /* the sink's kind of each of `kinds`; filled when joined */
    size_t global_cap;
    uint64_t negative, bad_time, aggregated, skipped;
    int64_t first_ps, last_ps;
    int64_t damage; /* in the source, or -1 */
    int status;     /* of decoding, with its error */
    vp_error error;
} xs_part;

/* How the stats of an event began, by their number in it modulo XS_GUESSES: those of the next event
 * mostly begin so, too. */
#define XS_GUESSES 8u
typedef struct xs_guess {
    uint64_t bits; /* 0: none */
    xs_stat_role role;
} xs_guess;

/* What a thread uses for one run after the other. All zero at first. */
typedef struct xs_decoder {
    xs_guess guess[XS_GUESSES]; /* of the run's plane */
    uint32_t *stamp, *local;    /* by metadata: the run that met it last, and its kind there */
    size_t stamp_cap, local_cap;
    vp_map keys; /* kinds by a key, mixed with the run's number */
    uint32_t run;
} xs_decoder;
void xs_decoder_free(xs_decoder *d);

/* Empties it. */
void xs_part_clear(xs_part *p);
void xs_part_free(xs_part *p);
static inline bool xs_part_is_full(const xs_part *p)
{
    return p->bytes_wanted >= XS_PART_BYTES || p->events_wanted >= XS_PART_EVENTS ||
           p->run_n >= XS_PART_RUNS;
}
/* Adds a run. VP_ENOMEM, VP_ELIMIT. */
int xs_part_add(xs_part *p, const xs_run *run);
/* Reads the bytes of its runs from the source and decodes them; `status` says how that went. Of
 * the reader it looks only at what does not change meanwhile. */
void xs_part_decode(xs_part *p, xs_decoder *d, const xs_reader *r);

/* The times and attributes of an event once more, as noted for joining. */
typedef struct xs_event_facts {
    sink_extra x;
    uint64_t lost;
    vp_str allocator;
    uint64_t allocator_ref;
} xs_event_facts;
void xs_event_look(xs_event_facts *out, const xs_plane *pl, vp_str event);

/* xs_join.c: hands a decoded part to the sink. */
int xs_part_join(xs_reader *r, xs_part *p);
/* Gives up the rooms that are left when reading fails; nobody may be decoding into them. */
void xs_rooms_close(xs_reader *r);

#endif
