/* Metadata of one XPlane, to which its events refer by id. The plane owns a copy of its metadata
 * bytes; slices point into it. Private to trace/read/xspace and export. Formats:
 * docs/reference/xprof.md#xspace. */
#ifndef VP_READ_XS_PLANE_H
#define VP_READ_XS_PLANE_H

#include <stdatomic.h>

#include "trace/base/map.h"
#include "trace/read/bytes/sink.h"
#include "trace/read/xspace/xs_window.h"

/* Timestamps above this are Unix time in ns, not time since the start of the profile. 2^53 ns are
 * 104 days; this is more than an int64 of ps holds, and the limit of exact ns in JSON
 * (docs/reference/perfetto.md#time-precision). Reader and export use the same rule for the base, so
 * that their times agree. */
#define XS_EPOCH_NS (INT64_C(1) << 53)

/* Stats that analyses need, by their name in the file (docs/reference/xprof.md#stats). */
typedef enum xs_stat_role {
    XS_STAT_OTHER,
    XS_STAT_DEVICE_OFFSET,
    XS_STAT_DEVICE_DURATION,
    XS_STAT_HLO_OP,
    XS_STAT_HLO_MODULE,
    XS_STAT_PROGRAM_ID,
    XS_STAT_HLO_CATEGORY,
    XS_STAT_TF_OP,
    XS_STAT_SOURCE,
    XS_STAT_BYTES,
    XS_STAT_FLOPS,
    XS_STAT_MODEL_FLOPS,
    XS_STAT_SHAPE,
    XS_STAT_MEMCPY,
    XS_STAT_TWIN,
    XS_STAT_ORDINAL,
    XS_STAT_PRODUCER_TYPE,
    XS_STAT_PRODUCER,
    XS_STAT_CONSUMER_TYPE,
    XS_STAT_CONSUMER,
    XS_STAT_HLO_PROTO,
    XS_STAT_PROFILE_START,
    XS_STAT_PROFILE_STOP,
    XS_STAT_WINDOW_START,
    XS_STAT_DROPPED,
    XS_STAT_GPU_MODEL,
    XS_STAT_TPU_MODEL,
    XS_STAT_CORE_DETAILS, /* chip and core of a TPU plane within the mesh */
    XS_STAT_PEAK,         /* this and the next: capabilities of the plane's device; see sink_chip */
    XS_STAT_HBM,
    XS_STAT_BANDWIDTH,
    XS_STAT_CORES,
    XS_STAT_CLOCK,
    XS_STAT_MEMORY,
    XS_STAT_CC_MAJOR,
    XS_STAT_CC_MINOR,
    XS_STAT_CATEGORY,   /* of a host event: "compile" */
    XS_STAT_GROUP_SIZE, /* of a collective that our recorder wrote */
    XS_STAT_LOST,       /* of a mark: number of zones that our recorder could not store */
    XS_STAT_UNFINISHED, /* the zone had not ended when our recorder closed it */
    XS_STAT_BREAKDOWN,  /* memory spaces that an op's bytes access */
    XS_STAT_LAUNCH,     /* launch parameters of a kernel; only if requested */
    XS_STAT_GRAPH,      /* CUDA graph that contains the kernel */
    XS_STAT_GRAPH_NODE,
    /* From here on: attributes of single events, only in full depth. */
    XS_STAT_ATTRS,
    XS_STAT_CORRELATION = XS_STAT_ATTRS,
    XS_STAT_STEP_NUM,
    XS_STAT_ITER_NUM,
    XS_STAT_ROOT,
    XS_STAT_GROUP,
    XS_STAT_RUN,
    XS_STAT_ALL_REDUCE,
    XS_STAT_FLOW,
    XS_STAT_MEM_DELTA,
    XS_STAT_MEM_USED,
    XS_STAT_MEM_FREE,
    XS_STAT_MEM_RESERVED,
    XS_STAT_MEM_DEVICE,
    XS_STAT_MEM_ADDRESS,
    XS_STAT_MEM_LIFETIME,
    XS_STAT_MEM_FRAGMENTED,
    XS_STAT_ALLOCATOR,
    XS_STAT_ROLES
} xs_stat_role;

/* A stat's value: a number (u), or text. */
typedef struct xs_value {
    uint64_t u;
    vp_str text;  /* str, bytes, or the resolved reference */
    uint8_t wire; /* field number in XStat, 0: absent */
} xs_value;

typedef struct xs_line {
    int64_t offset, end;  /* of the XLine in the source */
    int64_t timestamp_ns; /* if it precedes the events, else 0 */
} xs_line;

enum { XS_END_UNKNOWN, XS_END_NO, XS_END_YES };

typedef struct xs_meta {
    vp_str bytes;  /* the XEventMetadata message */
    uint32_t kind; /* kind in the sink for events without stats that define a kind; SINK_NONE: not
                      made */
    _Atomic uint8_t is_end; /* the name starts with "end: "; determined by any thread */
} xs_meta;

typedef struct xs_plane {
    int64_t offset, end; /* of the XPlane in the source */
    int64_t id;
    vp_str name;
    char *bytes; /* everything except the lines */
    size_t bytes_n;
    xs_line *lines;
    size_t line_count, line_cap;
    xs_meta *meta;
    size_t meta_count, meta_cap;
    vp_map meta_by_id;
    uint32_t *meta_dense; /* by id, for small ids */
    size_t meta_dense_n;
    vp_str *stat_names;
    uint8_t *stat_roles;
    size_t stat_count, stat_cap, role_cap;
    vp_map stat_by_id;
    uint8_t role_dense[256];       /* roles of the ids below 256 */
    xs_value stats[XS_STAT_ROLES]; /* the plane's own */
    bool is_metadata; /* "/host:metadata": its event metadata are HLO protos, stored as offsets */
    bool launches;    /* stats of launch parameters have roles */
    bool graphs;      /* events may be nodes of CUDA graphs */
    bool attrs;       /* attributes have roles; otherwise their stats are OTHER and cost nothing */
    bool is_read;     /* its lines are read by the reader of the whole file */
    int64_t damage;   /* where the wire format is damaged, or -1 */
} xs_plane;

/* Reads the plane at [offset, end), skipping its lines. Damage is stored in ->damage, and the
 * content before it is kept. attrs, launches: see xs_plane. */
int xs_plane_read(xs_plane *pl, xs_window *w, int64_t offset, int64_t end, bool attrs,
                  bool launches);
void xs_plane_free(xs_plane *pl);

static inline xs_meta *xs_plane_meta(xs_plane *pl, int64_t id)
{
    uint32_t i;
    if ((uint64_t)id < pl->meta_dense_n)
        i = pl->meta_dense[id];
    else
        i = vp_map_get(&pl->meta_by_id, (uint64_t)id);
    return i == VP_MAP_NONE ? NULL : &pl->meta[i];
}

static inline xs_stat_role xs_plane_role(const xs_plane *pl, int64_t stat_id)
{
    if ((uint64_t)stat_id < sizeof pl->role_dense)
        return (xs_stat_role)pl->role_dense[stat_id];
    uint32_t i = vp_map_get(&pl->stat_by_id, (uint64_t)stat_id);
    return i == VP_MAP_NONE ? XS_STAT_OTHER : (xs_stat_role)pl->stat_roles[i];
}

/* Decodes one XStat message to its role and value. false: damaged. */
bool xs_stat_decode(const xs_plane *pl, vp_str stat, xs_stat_role *role, xs_value *out);
/* The value as an integer, from any wire type; texts are parsed. SINK_UNKNOWN: absent, or not a
 * number. */
int64_t xs_value_i64(const xs_value *v);
/* The value times `factor`, rounded down, so that fractions count. SINK_UNKNOWN also if negative or
 * above 9.2e18. */
int64_t xs_value_times(const xs_value *v, int64_t factor);
/* Decodes name and display_name of an XEventMetadata, and its stats by role (stats may be NULL). */
bool xs_meta_decode(const xs_plane *pl, vp_str bytes, vp_str *name, vp_str *display,
                    xs_value stats[XS_STAT_ROLES]);

#endif
