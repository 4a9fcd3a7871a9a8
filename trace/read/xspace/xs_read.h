/* State of one XSpace while it is read. Private to trace/read/xspace. The reader owns its arrays;
 * functions return 0 or a code of the sink or of limits.h. */
#ifndef VP_READ_XS_READ_H
#define VP_READ_XS_READ_H

#include "trace/read/semantics/hlo.h"
#include "trace/read/xspace/xs_plane.h"

#define XS_BATCH 512

typedef struct xs_hlo {
    int64_t program_id;
    vp_str proto; /* slice of the metadata plane's bytes */
    hlo_module *module;
    bool tried;
} xs_hlo;

/* An op of XLA:CPU that waits for its "end: " event, which may be on any later line. */
typedef struct xs_cpu_op {
    int64_t start_ps, end_ps;
    uint64_t key; /* producer type and id; 0: synchronous */
    int64_t run;  /* SINK_RUN, or SINK_NO_VALUE */
    int64_t ordinal;
    uint32_t kind, device; /* kind and track in the sink */
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
    vp_map kinds;        /* key of metadata id and stats that define a kind → kind in the sink */
    vp_map processes;    /* hash of the plane's name → process in the sink */
    vp_map tracks;       /* hash of (process, id, name) → track in the sink */
    uint64_t device_ops; /* events on op lines of device planes */
    bool graphs;         /* a plane has nodes of CUDA graphs */
    bool is_ours;        /* written by our recorder */
    bool want_host;      /* full depth: host events, and attributes of all events */
    xs_cpu_op *cpu_ops;
    size_t cpu_op_count, cpu_op_cap;
    xs_cpu_end *cpu_ends;
    size_t cpu_end_count, cpu_end_cap;
    vp_map cpu_tracks; /* hash of (plane, ordinal) → track in the sink */
    uint64_t negative, bad_time, aggregated;
    uint64_t bad_costs;        /* kinds with impossible FLOP or bytes */
    uint32_t lost_said;        /* number of marks of lost zones so far */
    int64_t first_ps, last_ps; /* of all events read, on the host's clock; first > last: none */
    bool has_capture;
    int64_t first_damage;
    uint32_t join_process, join_track; /* of the run joined last */
    struct xs_buffer *buffers;         /* of lines that are not completely joined */
    sink_event batch[XS_BATCH];
    sink_extra extras[XS_BATCH]; /* for events of the batch with attributes */
    size_t batch_n;
} xs_reader;

/* A line while its events are read. */
typedef struct xs_line_ctx {
    xs_reader *r;
    uint32_t process;
    xs_plane *plane;
    uint32_t plane_index;
    char name[256]; /* display name, else name; truncated */
    size_t name_n;
    int64_t id, timestamp_ns;
    int64_t base_ps;
    sink_role role;
    bool device;         /* of a device's plane */
    bool cpu_ops;        /* its events may be ops of XLA:CPU */
    bool few_places;     /* only a few of its events get times on the host's clock */
    vp_str stream_label; /* slice of `name` */
    uint64_t label_hash;
    uint32_t track;
} xs_line_ctx;

/* Passes the events of the batch to the sink. */
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

/* Kind of an event. xs_kind_of_meta: for events without stats that define a kind, which use the
 * kind of their metadata. */
int xs_kind_of_meta(xs_line_ctx *c, xs_meta *meta, uint32_t *kind);
int xs_kind_of_event(xs_line_ctx *c, xs_meta *meta, uint64_t key, vp_str event, bool cpu_op,
                     uint32_t *kind);

/* xs_args.c: passes the args of an event of our own recordings to the sink. */
int xs_args(xs_line_ctx *c, uint32_t kind, vp_str event, int64_t start_ps);
/* Detects if the file is ours, and if so passes the program's metadata to the sink. */
int xs_facts(xs_reader *r, const xs_plane *environment);

struct xs_workers;
/* Plans the scan of a plane's lines, which are then read in the same order. Devices come first,
 * until it is known whether one has ops: with rd_options.uncounted, host lines are not scanned
 * then. */
int xs_lines_plan(const xs_reader *r, struct xs_workers *workers, uint32_t plane_index,
                  bool device);
/* Reads the lines of a device plane (op lines in full) or of a host plane. */
int xs_lines_read(xs_reader *r, struct xs_workers *workers, uint32_t plane_index, bool device);

/* XLA:CPU: stores ops, after finding their `device`, and ends. xs_cpu_finish joins and emits
 * them. */
int xs_cpu_add(xs_line_ctx *c, const xs_cpu_op *ops, size_t n);
int xs_cpu_add_ends(xs_reader *r, const xs_cpu_end *ends, size_t n);
int xs_cpu_finish(xs_reader *r);
/* Process of a plane in the sink; planes with the same name share it. */
int xs_open_process(xs_reader *r, const xs_plane *pl, uint32_t *process);
/* Opens a line's track. Lines with the same plane, id and name share a track, because a file may
 * contain a plane twice. */
int xs_open_track(const xs_line_ctx *c, vp_str name, int64_t id, sink_role role, uint32_t *track);
/* Records damage at this offset; the first one is kept. */
static inline void xs_damaged(xs_reader *r, int64_t at)
{
    if (r->first_damage < 0)
        r->first_damage = at;
}

#endif
