/* Declarations shared by the files of ex_json_from_xspace and ex_pftrace_from_xspace: which planes
 * and lines of an XSpace are which processes and threads, the track of each event, the names and
 * args of one plane's events, and the text of one event. The output contains what jaxlib writes for
 * the same file (docs/reference/xprof.md#trace-json), if Perfetto can show it. Times are whole ns:
 * start and end are rounded, never start and duration separately, so that events that touch or nest
 * still do. */
#ifndef VP_EXPORT_XSPACE_JSON_H
#define VP_EXPORT_XSPACE_JSON_H

#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/map.h"
#include "trace/export/shared/lanes.h"
#include "trace/export/shared/pick.h"
#include "trace/read/xspace/xs_plane.h"

/* Maximum bytes of a plane's or line's name; longer ones are truncated, because they are only
 * displayed. */
#define XJ_NAME_MAX (64u << 10)

/* Fields of an XEvent except its stats. */
typedef struct xj_event {
    int64_t metadata_id, offset_ps, duration_ps;
    vp_str stats; /* its fields from its first stat on; valid until the window moves */
} xj_event;

/* A time in ns on the line's clock, or on the common clock of all lines. */
typedef struct xj_span {
    int64_t start, end; /* end >= start */
} xj_span;

/* Reads the event that xw_next found. 1; 0: damaged, or too long; or a failure. */
int xj_event_read(xj_event *e, xs_window *w, const xw_field *f);
/* Start and end, each rounded half up; negative durations become 0. false: exceeds int64. */
bool xj_event_span(xj_span *s, const xj_event *e);

/* How the events of a line overlap, in file order; zero-initialize. */
typedef struct xj_scan {
    ex_pick *pick; /* receives lengths; may be NULL */
    ex_lanes lanes;
    xj_span last;
    int64_t least_ns;           /* the earliest start */
    uint64_t events;            /* that can be read */
    bool unsorted, overlapping; /* sorted by start, longest first; partly overlapping, or too deep
                                 * for one track */
} xj_scan;

int xj_scan_event(xj_scan *s, xs_window *w, const xw_field *f);
void xj_scan_free(xj_scan *s);

/* An XLine: a thread of the JSON. */
typedef struct xj_track {
    uint32_t plane; /* index into planes */
    uint32_t tid, sort;
    int64_t id; /* display_id, or id */
    vp_str name;
    int64_t offset, end, timestamp_ns;
    int64_t start_ns; /* origin of its event times, on the common clock */
    int64_t least_ns;
    uint64_t events;
    uint32_t number; /* 1, 2, … in the plane */
    uint32_t thread; /* the same for all lines that are one thread; these are adjacent */
    bool unsorted, overlapping;
    bool async; /* spans in flight, next to the calls of a thread */
} xj_track;

/* An XPlane: a process. */
typedef struct xj_plane {
    int64_t offset, end, id;
    vp_str name;
    uint32_t pid;
    uint32_t owner;    /* the first plane with this pid */
    uint32_t next_tid; /* at the owner: all tids below are used */
    bool host, device; /* "/host:CPU"; any device */
} xj_plane;

/* Metadata events ("M") of a process or thread, in their order. */
typedef struct xj_row {
    uint32_t pid, tid, sort;
    uint32_t owner, thread; /* of its plane and line; thread id of a process: 0 */
    size_t order;
    vp_str name;
    bool process;
} xj_row;

/* The current plane and line of a walk. */
typedef struct xj_here {
    int64_t space, plane, line; /* the next item in each */
    bool in_plane, in_line;
    bool last_plane, last_line; /* truncated: nothing follows it */
    xj_plane p;
    xj_track t;
    uint32_t lines; /* of the plane so far */
    int64_t display_id;
    vp_str display;
    xj_scan scan;
} xj_here;

typedef struct xj_layout {
    xj_here here;
    vp_arena arena; /* the names */
    xj_plane *planes;
    size_t plane_count, plane_cap;
    xj_track *tracks;
    size_t track_count, track_cap;
    xj_row *rows;
    size_t row_count;
    vp_map taken;     /* pids and tids */
    int64_t base_ns;  /* subtracted from every Unix timestamp */
    int64_t shift_ns; /* added to all times, so that none is negative */
    int64_t damage;   /* the offset of the first damaged byte, or -1 */
    bool any_event;
    ex_pick *pick; /* may be NULL */
} xj_layout;

/* For a zeroed or undefined layout, which must be freed afterwards. */
void xj_layout_init(xj_layout *l, ex_pick *pick);
/* Walks all planes once, reading only the times of events. 1: finished; 0: reached the byte `until`
 * of the source, and the next call continues; or a failure. */
int xj_layout_find(xj_layout *l, xs_window *w, int64_t until);
/* Decides what is shown, after the walk. VP_ECORRUPT if there is no plane. */
int xj_layout_make(xj_layout *l);
void xj_layout_free(xj_layout *l);
/* Assigns pids and tids to the planes and tracks of the layout. */
int xj_ids_choose(xj_layout *l);
/* An unused tid in t's process, next to t's if possible. */
int xj_ids_fresh(xj_layout *l, const xj_track *t, uint32_t *tid);
/* Reads a line's event, with its span on the common clock. 1; 0: as xj_event_read, or outside of
 * the range in which JSON represents whole ns; or a failure. */
int xj_layout_read(const xj_layout *l, const xj_track *t, xs_window *w, const xw_field *f,
                   xj_event *e, xj_span *s);
/* The metadata events of one row, without leading or trailing comma. */
void xj_put_row(vp_buf *b, const xj_row *r);

/* One member of args. */
typedef struct xj_arg {
    uint32_t key; /* index in the plane's table */
    enum { XJ_QUOTED, XJ_TEXT, XJ_INT, XJ_UINT, XJ_DOUBLE } type;
    uint32_t known; /* the id of a text shared by events, from 1; 0: specific to this event */
    uint64_t u;     /* the number, or the bits of the double */
    vp_str text;    /* XJ_QUOTED: JSON, or raw; XJ_TEXT: bytes that need quoting */
} xj_arg;

/* A bit set of keys: two sets without a common bit have no common key. */
static inline uint64_t xj_mask(uint32_t key)
{
    return UINT64_C(1) << (key & 63);
}

/* Data that all events of one XEventMetadata share. */
typedef struct xj_meta {
    vp_str name;  /* quoted */
    xj_arg *args; /* sorted by key; texts are quoted */
    uint32_t arg_count;
    bool made;
    bool step;     /* one of the args is step_name */
    uint64_t mask; /* xj_mask of the args */
} xj_meta;

/* Stats of an event that are more than args: links to other events, and the state of an allocator.
 */
typedef enum xj_fact {
    XJ_NO_FACT,
    XJ_CORRELATION,
    XJ_PRODUCER,
    XJ_PRODUCER_TYPE,
    XJ_CONSUMER,
    XJ_CONSUMER_TYPE,
    XJ_FLOW,
    XJ_MEM_USED,
    XJ_MEM_FREE,
    XJ_MEM_RESERVED,
    XJ_MEM_DEVICE,
    XJ_ALLOCATOR,
    XJ_FACTS
} xj_fact;

typedef struct xj_facts {
    uint32_t has; /* one bit per xj_fact */
    uint64_t v[XJ_FACTS];
    vp_str allocator; /* the name for XJ_ALLOCATOR */
} xj_facts;

/* A stat's name, which is a key of args and may also be a value. */
typedef struct xj_key {
    vp_str text; /* quoted */
    bool hidden; /* internal stats are not args */
    bool step;   /* step_name, which replaces the event's name */
    uint8_t fact;
} xj_key;

/* Ids of stats are small. */
#define XJ_DENSE 256u

/* The tables of the plane whose lines are being written. */
typedef struct xj_names {
    xs_plane *plane;
    bool raw;            /* texts are raw; else all except XJ_TEXT are quoted as JSON */
    uint32_t key_count;  /* number of distinct names; also the smallest id of a known text that is
                          * not a name */
    uint32_t text_count; /* known texts: those of keys, then those of metadata */
    vp_arena arena;
    uint32_t *key_of_stat; /* by the plane's stat index; keys are sorted by name */
    uint32_t *key_dense;   /* by id, for ids below XJ_DENSE */
    xj_key *keys;
    uint32_t long_name_key, empty_key;
    xj_meta *meta;  /* by the plane's metadata index; the last one is for unknown ids */
    xj_arg *args;   /* of the current event */
    xj_facts facts; /* likewise; cleared by the reader of the event */
    vp_buf scratch;
} xj_names;

/* The plane must outlive the names. Free *n with xj_names_free, also on failure. */
int xj_names_make(xj_names *n, xs_plane *plane, bool raw);
void xj_names_free(xj_names *n);
/* The metadata of an id; NULL if out of memory (recorded). */
const xj_meta *xj_names_meta(xj_names *n, int64_t id);
/* Adds the args of an event to the *count at n->args, which stay sorted; the last one of a key
 * wins, as in jaxlib. Sets the facts. VP_ECORRUPT (not recorded): damaged, or too many. */
int xj_names_stats(xj_names *n, uint32_t *count, const xj_event *e);
void xj_put_value(vp_buf *b, const xj_arg *arg);

/* `{"ph":"X","pid":1,"tid":2,"ts":` */
#define XJ_HEAD_MAX 64

/* The tracks of the thread that is being written; zero-initialize. */
typedef struct xj_lanes {
    ex_lanes sorted; /* of lines whose events are ordered by time */
    ex_moves moves;  /* of all others: */
    size_t move;     /* the next one */
    uint32_t event;  /* number of events of the thread so far */
    bool by_moves, by_time;
    uint32_t tid[EX_LANES_MAX]; /* 0: not assigned yet */
    char head[EX_LANES_MAX][XJ_HEAD_MAX];
    size_t head_n[EX_LANES_MAX];
} xj_lanes;

/* For the thread whose first line is layout->tracks[first]. */
int xj_lanes_make(xj_lanes *l, const xj_layout *layout, size_t first, xs_window *w);
void xj_lanes_free(xj_lanes *l);
/* The lane of the next event in the file, or a failure. Call it for each event; NULL: not written.
 */
int xj_lanes_next(xj_lanes *l, const xj_span *s);

/* The thread and times of a written event. */
typedef struct xj_place {
    vp_str head; /* prefix of a slice of the thread: up to the value of "ts" */
    uint32_t pid, tid;
    bool device;
    uint64_t async; /* the id of a span that may overlap others; 0: a slice of the thread */
    xj_span span;
} xj_place;

/* The flows that have begun: sixteen ids per slot, because writers count them up. Zero-initialize.
 */
typedef struct xj_flows {
    vp_map begun;
} xj_flows;

/* Ends of a flow: an arrow leads from the slice that is `out` to those that are `in`; both: it
 * continues. Neither: no arrow. */
typedef struct xj_flow {
    uint64_t id;
    bool out, in;
} xj_flow;

/* The flow of an event's facts. An id begins once, at its first event in the file, because Perfetto
 * treats a second begin as an error. */
int xj_flow_of(xj_flows *flows, const xj_facts *facts, bool device, xj_flow *out);
void xj_flows_free(xj_flows *flows);
/* Returns the memory in use after an event of an allocator, whose name is written to the empty
 * *name. 1; 0: not such an event. */
int xj_memory_of(const xj_facts *f, bool device, vp_buf *name, int64_t *used);
/* Appends that as a counter event. 1; 0: not such an event. */
int xj_put_memory(vp_buf *b, const xj_facts *facts, const xj_place *p);

/* Appends one event. VP_ECORRUPT (not recorded): damaged stats; or another failure. */
int xj_put_event(vp_buf *b, xj_names *n, xj_flows *flows, const xj_event *e, const xj_place *p);

#endif
