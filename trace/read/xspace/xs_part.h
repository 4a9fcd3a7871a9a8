/* A part of an XSpace: sections of lines ("runs"), cut between events, which any thread decodes
 * into the memory of their line. What depends on order (kinds, tracks, ops of XLA:CPU, args) is
 * only noted, and processed when the part is joined (xs_join.c), in file order. So the sink gets
 * the same calls for any number of threads. A part owns its memory and is reused. */
#ifndef VP_READ_XS_PART_H
#define VP_READ_XS_PART_H

#include "trace/read/xspace/xs_read.h"

/* A part is closed at this number of bytes, events or runs; a run is cut there, too. */
#define XS_PART_BYTES (128u << 10)
#define XS_PART_EVENTS 8192u
#define XS_PART_RUNS 64u
/* Each event makes at most two kinds, and the last run may be as large as a part. */
_Static_assert(4 * XS_PART_EVENTS < SINK_PACKED_WIDE, "kinds of a part are packed with its events");

/* A kind of a part's events, in the order of first occurrence in its run. */
typedef struct xs_part_kind {
    uint64_t key;  /* 0: the kind of the metadata */
    uint32_t meta; /* index into the plane's; SINK_NONE: unknown */
    bool cpu_op;
    size_t event, event_n; /* the first event of this kind, in the part's bytes */
    sink_longest longest;  /* of its run; set if rd_options.longest_only replaces columns */
} xs_part_kind;

typedef enum xs_special_what {
    XS_SPECIAL_ARGS,      /* args of an event of our own recordings */
    XS_SPECIAL_LOST,      /* a mark of lost zones, for a separate track */
    XS_SPECIAL_ALLOCATOR, /* an event of an allocator, for its track */
} xs_special_what;

typedef struct xs_special {
    xs_special_what what;
    uint32_t kind; /* index in the part */
    int64_t start_ps, dur_ps;
    size_t event, event_n; /* in the part's bytes */
} xs_special;

/* Memory for a line's events, allocated by the reader and released once all of them are joined. */
typedef struct xs_buffer {
    sink_buffer m;
    bool opened; /* its track is known */
    uint32_t track;
    struct xs_buffer *next;
} xs_buffer;

/* Values of packed events that do not fit, for one clock: the lists of sink_times, run by run. */
typedef struct xs_beside {
    int64_t *longs;
    sink_far *far;
    size_t long_n, long_cap, far_n, far_cap;
} xs_beside;

/* A run's events on one clock. Its items in the part's lists start at long_first and far_first. */
typedef struct xs_clock {
    sink_times s;
    size_t long_first, far_first;
    int64_t last_ps;
} xs_clock;

/* Events of one line. Its items in the part's arrays start where those of the previous run end. */
typedef struct xs_run {
    xs_line_ctx line;
    int64_t offset, end; /* in the source; empty: only opens the line or the plane */
    bool opens_process, opens_track, closes_track;
    uint64_t events;   /* upper bound */
    xs_buffer *buffer; /* NULL: none of its events is kept */
    uint64_t at;       /* index of its first event in the buffer */
    bool sorted;       /* every event starts at or after the previous one */
    bool own_clock;    /* an event has times on the device's clock */
    xs_clock own;      /* the times in the buffer */
    xs_clock other;    /* on the host's clock, if the device has its own clock */
    int64_t first_dur_ps;
    size_t kind_end, value_end, special_end, op_end, cpu_end_end;
} xs_run;

typedef struct xs_part {
    xs_run *runs;
    size_t run_n, run_cap;
    uint64_t bytes_wanted, events_wanted;
    uint8_t *bytes; /* of the runs, concatenated */
    size_t bytes_n, bytes_cap;
    xs_part_kind *kinds;
    size_t kind_n, kinds_cap;
    sink_value *values;
    size_t value_n, value_cap;
    xs_beside own, other; /* other: the host's clock */
    xs_special *specials;
    size_t special_n, special_cap;
    xs_cpu_op *ops; /* kinds are indices in the part, devices are ordinals */
    size_t op_n, op_cap;
    xs_cpu_end *ends;
    size_t end_n, end_cap;
    sink_longest *longest; /* of the run being joined */
    size_t longest_cap;
    uint32_t *global; /* sink kinds of `kinds`; set when joined */
    size_t global_cap;
    uint64_t negative, bad_time, aggregated, skipped;
    int64_t first_ps, last_ps;
    int64_t damage; /* offset in the source, or -1 */
    int status;     /* result of decoding, with its error */
    vp_error error;
} xs_part;

/* Predicted first bytes of an event's stats, by their number modulo XS_GUESSES: consecutive events
 * usually have the same stats. */
#define XS_GUESSES 8u
typedef struct xs_guess {
    uint64_t bits; /* 0: none */
    xs_stat_role role;
} xs_guess;

/* State of a thread, reused for all of its runs. Initialize to zero. */
typedef struct xs_decoder {
    xs_guess guess[XS_GUESSES]; /* of the run's plane */
    uint32_t *stamp, *local;    /* by metadata: run of the last occurrence, and kind there */
    size_t stamp_cap, local_cap;
    vp_map keys; /* key, mixed with the run's number → kind */
    uint32_t run;
} xs_decoder;
void xs_decoder_free(xs_decoder *d);

/* Empties the part; its memory is kept. */
void xs_part_clear(xs_part *p);
void xs_part_free(xs_part *p);
static inline bool xs_part_is_full(const xs_part *p)
{
    return p->bytes_wanted >= XS_PART_BYTES || p->events_wanted >= XS_PART_EVENTS ||
           p->run_n >= XS_PART_RUNS;
}
/* Adds a run. VP_ENOMEM, VP_ELIMIT. */
int xs_part_add(xs_part *p, const xs_run *run);
/* Reads the bytes of its runs from the source and decodes them; `status` has the result. It only
 * reads members of the reader that are constant meanwhile. */
void xs_part_decode(xs_part *p, xs_decoder *d, const xs_reader *r);

/* Attributes of an event, read again when the part is joined. */
typedef struct xs_event_facts {
    sink_extra x;
    uint64_t lost;
    vp_str allocator;
    uint64_t allocator_ref;
} xs_event_facts;
void xs_event_look(xs_event_facts *out, const xs_plane *pl, vp_str event);

/* xs_join.c: passes a decoded part to the sink. */
int xs_part_join(xs_reader *r, xs_part *p);
/* Releases the remaining buffers when reading fails; no thread may be decoding. */
void xs_buffers_close(xs_reader *r);

#endif
