/* The parts of ex_json_from_xspace: which planes and lines an XSpace shows as which processes and
 * threads, the names and args of one plane's events, and the text of one event. What jaxlib writes
 * for the same file is the contract (xprof.md 3.1). Only trace/export/xspace_*.c include this. */
#ifndef VP_EXPORT_XSPACE_JSON_H
#define VP_EXPORT_XSPACE_JSON_H

#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/map.h"
#include "trace/read/xspace/xs_plane.h"

/* An XLine: a thread of the JSON. */
typedef struct xj_track {
    uint32_t plane; /* index into planes */
    uint32_t tid;
    int64_t id; /* display_id, or id */
    vp_str name;
    int64_t offset, end, timestamp_ns;
    uint32_t number; /* 1, 2, … in the plane */
} xj_track;

/* An XPlane that is shown: a process. */
typedef struct xj_plane {
    int64_t offset, end, id;
    vp_str name;
    uint32_t pid;
    bool host;
} xj_plane;

/* A process or thread as the metadata events ("M") say it, in their order. */
typedef struct xj_row {
    uint32_t pid, tid, sort;
    size_t order;
    vp_str name;
    bool process;
} xj_row;

typedef struct xj_layout {
    vp_arena arena; /* the names */
    xj_plane *planes;
    size_t plane_count, plane_cap;
    xj_track *tracks;
    size_t track_count, track_cap;
    xj_row *rows;
    size_t row_count;
    int64_t base_ns; /* taken off every timestamp */
    int64_t damage;  /* the first byte that is no XSpace, or -1 */
    bool any_event;
} xj_layout;

/* Walks all planes once, reading no events, and decides what is shown. VP_ECORRUPT when there is
 * no plane at all. *l is freed by xj_layout_free also on failure. */
int xj_layout_make(xj_layout *l, xs_window *w);
void xj_layout_free(xj_layout *l);
/* The metadata events of one row, without a comma around them. */
void xj_put_row(vp_buf *b, const xj_row *r);

/* One member of args. */
typedef struct xj_arg {
    uint32_t key; /* in the plane's table */
    enum { XJ_QUOTED, XJ_TEXT, XJ_INT, XJ_UINT, XJ_DOUBLE } type;
    uint64_t u;  /* the number, or the double's bits */
    vp_str text; /* XJ_QUOTED: JSON; XJ_TEXT: bytes that still are to be quoted */
} xj_arg;

/* What all events of one XEventMetadata share. */
typedef struct xj_meta {
    vp_str name;  /* quoted */
    xj_arg *args; /* sorted by key; their text is quoted */
    uint32_t arg_count;
    bool made, internal; /* internal: jaxlib's JSON leaves such events out */
} xj_meta;

/* A stat's name, which is a key of args and may be a value too. */
typedef struct xj_key {
    vp_str text; /* quoted */
    bool hidden; /* internal stats are no args */
    bool step;   /* step_name, which replaces the event's name */
} xj_key;

/* The tables of the plane whose lines are being written. */
typedef struct xj_names {
    xs_plane *plane;
    vp_arena arena;
    uint32_t *key_of_stat; /* by the plane's stat index; keys sort as their names do */
    xj_key *keys;
    uint32_t long_name_key, empty_key;
    xj_meta *meta; /* by the plane's metadata index; the last one is for unknown ids */
    xj_arg *args;  /* of the event at hand */
    vp_buf scratch;
} xj_names;

/* The plane must outlive the names. *n is freed by xj_names_free also on failure. */
int xj_names_make(xj_names *n, xs_plane *plane);
void xj_names_free(xj_names *n);
/* The metadata of an id; NULL when out of memory (recorded). */
const xj_meta *xj_names_meta(xj_names *n, int64_t id);
/* Sets the arg that an XStat says among the *count at n->args, which stay sorted; the last one of a
 * key wins, as in jaxlib. VP_ECORRUPT (not recorded): damaged, or absurdly many. */
int xj_names_set(xj_names *n, uint32_t *count, vp_str stat);
void xj_put_value(vp_buf *b, const xj_arg *arg);

/* Appends one event; head is everything up to the value of "ts". 1: written; 0: left out as
 * internal; VP_ECORRUPT (not recorded): damaged; or another failure. */
int xj_put_event(vp_buf *b, xj_names *n, vp_str event, vp_str head, int64_t line_ps);
/* Picoseconds as microseconds, exactly, without trailing zeros. */
void xj_put_us(vp_buf *b, int64_t ps);

#endif
