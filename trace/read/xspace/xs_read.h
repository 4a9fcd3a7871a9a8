/* The state of one XSpace being read, shared by trace/read/xs*.c only. */
#ifndef VP_READ_XS_READ_H
#define VP_READ_XS_READ_H

#include "trace/read/semantics/hlo.h"
#include "trace/read/xspace/xs_plane.h"

#define XS_BATCH 512

typedef struct xs_hlo {
    int64_t program_id;
    vp_str proto; /* in the metadata plane's bytes */
    hlo_module *module;
    bool tried;
} xs_hlo;

/* An op of XLA:CPU, waiting for its "end: " event, which may come on any later line. */
typedef struct xs_cpu_op {
    int64_t start_ps, end_ps;
    uint64_t key; /* producer type and id; 0: synchronous */
    int64_t run;  /* SINK_RUN, or SINK_NO_VALUE */
    int64_t ordinal;
    uint32_t kind, device; /* the sink's kind and track */
} xs_cpu_op;

typedef struct xs_cpu_end {
    uint64_t key;
    int64_t end_ps;
} xs_cpu_end;

typedef struct xs_reader {
    sink *out;
    const rd_options *opts;
    xs_window w;
    xs_plane *planes;
    size_t plane_count, plane_cap;
    int64_t base_ns; /* subtracted from every line's timestamp */
    xs_hlo *hlo;
    size_t hlo_count, hlo_cap;
    vp_map hlo_by_program;
    vp_map kinds;        /* key of metadata id and the stats that make a kind → sink kind */
    vp_map processes;    /* hash of the plane's name → sink process */
    vp_map tracks;       /* hash of (process, id, name) → sink track */
    uint64_t device_ops; /* events on op lines of device planes */
    bool graphs;         /* a plane has nodes of CUDA graphs */
    bool is_ours;        /* our recorder wrote it */
    bool want_host;      /* full depth: host events, and attributes of all */
    xs_cpu_op *cpu_ops;
    size_t cpu_op_count, cpu_op_cap;
    xs_cpu_end *cpu_ends;
    size_t cpu_end_count, cpu_end_cap;
    vp_map cpu_tracks; /* hash of (plane, ordinal) → sink track */
    uint64_t negative, bad_time, aggregated;
    uint64_t bad_costs; /* kinds whose FLOP or bytes are no number that could be */
    uint32_t lost_said; /* how many marks of lost zones were named so far */
    int64_t first_ps,
        last_ps; /* of all events that are read, on the host's clock; first > last: none */
    bool has_capture;
    int64_t first_damage;
    uint32_t join_process, join_track; /* of the run joined last */
    struct xs_room *rooms;             /* of lines that are not joined to their end */
    sink_event batch[XS_BATCH];
    sink_extra extras[XS_BATCH]; /* of the batch's events that have one */
    size_t batch_n;
} xs_reader;

/* A line while its events are read. */
typedef struct xs_line_ctx {
    xs_reader *r;
    uint32_t process;
    xs_plane *plane;
    uint32_t plane_index;
    char name[256]; /* display name, else name; cut */
    size_t name_n;
    int64_t id, timestamp_ns;
    int64_t base_ps;
    sink_role role;
    bool device;         /* of a device's plane */
    bool cpu_ops;        /* its events may be ops of XLA:CPU */
    bool few_places;     /* of its events the host's times are left out but for a few */
    vp_str stream_label; /* in `name` */
    uint64_t label_hash;
    uint32_t track;
} xs_line_ctx;

/* Gives the events of the batch to the sink. */
int xs_flush(xs_reader *r);
static inline int xs_emit(xs_reader *r, const sink_event *e)
{
    r->batch[r->batch_n] = *e;
    if (e->extra) {
        r->extras[r->batch_n] = *e->extra;
        r->batch[r->batch_n].extra = &r->extras[r->batch_n];
    }
    r->batch_n++;
    return r->batch_n == XS_BATCH ? xs_flush(r) : 0;
}

/* The kind of an event: _meta if none of its stats makes a kind, so that its metadata's is its own.
 */
int xs_kind_of_meta(xs_line_ctx *c, xs_meta *meta, uint32_t *kind);
int xs_kind_of_event(xs_line_ctx *c, xs_meta *meta, uint64_t key, vp_str event, bool cpu_op,
                     uint32_t *kind);

/* xs_args.c: tells the sink the args of an event of our own recordings. */
int xs_args(xs_line_ctx *c, uint32_t kind, vp_str event, int64_t start_ps);
/* Finds out whether the file is ours, and if so tells the sink the facts that its program gives. */
int xs_facts(xs_reader *r, const xs_plane *environment);

struct xs_crew;
/* Has the crew go over the lines of a plane, which are then read in the same order. Devices come
 * first, as far as it takes to know whether one has ops: with rd_options.uncounted nothing of hosts
 * is gone over then. */
int xs_lines_plan(const xs_reader *r, struct xs_crew *crew, uint32_t plane_index, bool device);
/* Reads the lines of a device plane (op lines in full) or of a host plane. */
int xs_lines_read(xs_reader *r, struct xs_crew *crew, uint32_t plane_index, bool device);

/* XLA:CPU: remembers ops, whose `device` is found here, and ends; xs_cpu_finish joins and emits
 * them. */
int xs_cpu_add(xs_line_ctx *c, const xs_cpu_op *ops, size_t n);
int xs_cpu_add_ends(xs_reader *r, const xs_cpu_end *ends, size_t n);
int xs_cpu_finish(xs_reader *r);
/* The sink's process of a plane; planes of one name share it. */
int xs_open_process(xs_reader *r, const xs_plane *pl, uint32_t *process);
/* Opens a line's track. Lines with the same plane, id and name are one track, since planes may
 * stand twice in a file. */
int xs_open_track(const xs_line_ctx *c, vp_str name, int64_t id, sink_role role, uint32_t *track);
/* Where the file is damaged; the first place counts. */
static inline void xs_damaged(xs_reader *r, int64_t at)
{
    if (r->first_damage < 0)
        r->first_damage = at;
}

#endif
