/* Tracks that a trace lacks and its analysis can provide: steps, runs of modules, framework scopes,
 * breakdown of a device's time. A plain value that outlives the trace: analyze/ fills it, export/
 * writes it after a file's own tracks, and our timeline shows it above them. The owner frees it
 * with derived_free. Failures: VP_ENOMEM, VP_ELIMIT.
 *
 *   groups (a device, or the host) ─< tracks ─< slices (start, end, name, numbers and texts by
 * kind)
 *
 * Times are the trace's (model/trace.h). Those of a group are on the host's clock, or on the
 * device's clock if it has one; own_clock states which. Slices of a track are sorted by (start asc,
 * end desc) and nest or touch, but never cross; `depth` is the number of enclosing slices. */
#ifndef VP_MODEL_DERIVED_H
#define VP_MODEL_DERIVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/map.h"

/* X(kind, title of the track, keys of a slice's two numbers and two texts; NULL: none). In the
 * order of the tracks in a group, from the top. Keys ending in _ps count picoseconds. */
#define DERIVED_KINDS(X)                                                                           \
    X(FINDINGS, "Findings", "number", "impact_ps", "advice", "severity")                           \
    X(STEPS, "Steps", "step", "idle_ps", NULL, NULL)                                               \
    X(SLOWEST, "Slowest ops", "rank", "self_ps", "scope", NULL)                                    \
    X(PARTS, "Compute, communication, copy, idle", NULL, NULL, NULL, NULL)                         \
    X(IDLE, "Idle", "gap_ps", NULL, "cause", "thread")                                             \
    X(MODULES, "XLA Modules", "busy_ps", "program_id", NULL, NULL)                                 \
    X(SCOPES, "Framework scopes", "busy_ps", NULL, "path", NULL)                                   \
    X(SOURCE, "Source", "busy_ps", NULL, NULL, NULL)

#define DERIVED_KIND(kind, title, first, second, text, more) DERIVED_##kind,
typedef enum derived_kind { DERIVED_KINDS(DERIVED_KIND) DERIVED_KIND_COUNT } derived_kind;
#undef DERIVED_KIND

/* Classification of a device's time; also the names of slices in DERIVED_PARTS. */
typedef enum derived_part {
    DERIVED_PART_IDLE,
    DERIVED_PART_COMPUTE,
    DERIVED_PART_COMM,
    DERIVED_PART_COPY,
    DERIVED_PART_COUNT
} derived_part;
extern const char *const derived_part_words[DERIVED_PART_COUNT];

#define DERIVED_NUMBERS 2
#define DERIVED_TEXTS 2
#define DERIVED_UNKNOWN INT64_C(-1) /* same as VP_UNKNOWN */

typedef struct derived_kind_row {
    const char *word; /* "STEPS" */
    const char *title;
    const char *number[DERIVED_NUMBERS], *text[DERIVED_TEXTS];
} derived_kind_row;
extern const derived_kind_row derived_kinds[DERIVED_KIND_COUNT];

typedef struct derived_slice {
    int64_t start_ps, end_ps;
    int64_t number[DERIVED_NUMBERS];  /* VP_UNKNOWN (-1): missing */
    vp_sid name, text[DERIVED_TEXTS]; /* in `names`; 0: missing */
    uint32_t depth;
} derived_slice;

/* Numbers and texts of a slice whose times and name are stored elsewhere; as in derived_slice. */
typedef struct derived_note {
    int64_t number[DERIVED_NUMBERS];
    vp_sid text[DERIVED_TEXTS];
} derived_note;

typedef struct derived_track {
    derived_kind kind;
    uint32_t group;
    vp_sid name;  /* the kind's title, or a title with a suffix such as a stream's name */
    size_t first; /* index of its first slice */
    size_t count;
} derived_track;

typedef struct derived_group {
    vp_sid name; /* of the device; "": the host as a whole */
    bool is_host;
    bool own_clock;   /* on the device's clock, unlike the file's own tracks */
    int64_t shift_ps; /* own_clock: added to place its first op as in the file */
} derived_group;

/* The launches of device ops (trace/links), for arguments of their slices. */
typedef struct derived_place {
    vp_sid inner, outer; /* operators: the innermost, and the one that the program called */
    vp_sid module;       /* path of nn.Modules; 0: none, as for the others */
    vp_sid source;       /* file:line */
} derived_place;

#define DERIVED_NO_PLACE UINT32_MAX

/* A device op whose launch is in the file. */
typedef struct derived_launched {
    uint32_t place; /* DERIVED_NO_PLACE: launched outside of operators */
    uint32_t launch;
} derived_launched;

typedef struct derived {
    vp_arena arena; /* of names */
    vp_intern names;
    derived_group *groups;
    size_t group_count, group_cap;
    derived_track *tracks;
    size_t track_count, track_cap;
    derived_slice *slices; /* NULL once there are notes */
    size_t slice_count, slice_cap;
    derived_note *notes; /* of each slice, after derived_keep_notes */
    derived_place *places;
    size_t place_count, place_cap;
    derived_launched *launched;
    size_t launched_count, launched_cap;
    vp_map op_at;           /* correlation id and start of an op → index in `launched` */
    vp_map launch_at;       /* those of a launch with an op → its number */
    uint64_t left_out;      /* slices beyond VP_DERIVED_MAX */
    int64_t file_origin_ns; /* the file's own time at the trace's 0, as in trace */
    size_t file;            /* index of the run's file that has these times */
    int64_t origin_ps;      /* position of the report's time 0 in the trace */
} derived;

int derived_new(derived **out);
void derived_free(derived *d);
uint64_t derived_bytes(const derived *d); /* bytes of memory; 0 if d is NULL */
/* Append a group, and a track to the last group, to which further slices are added. A nonempty
 * `more` distinguishes it from other tracks of its kind in the group. VP_ENOMEM, VP_ELIMIT. */
int derived_add_group(derived *d, vp_str name);
int derived_add_track(derived *d, derived_kind kind, vp_str more);
/* Appends a slice to the last track. *at is its index in d->slices until the next is appended;
 * SIZE_MAX: the limit was reached (counted in left_out). at may be NULL. */
int derived_add(derived *d, const derived_slice *s, size_t *at);
int derived_name(derived *d, vp_sid *out, vp_str text);
/* Ends the last track: drops it if empty, sorts its slices and sets their depth. Slices that cross
 * an earlier one move to further tracks of the same name, "NAME (2)", …. */
int derived_end_track(derived *d);
/* Keeps only numbers and texts of the slices, in half the memory. */
void derived_keep_notes(derived *d);
/* Name of the group next to the file's own tracks: "/device:GPU:0 (analysis)". */
int derived_group_name(vp_buf *b, const derived *d, const derived_group *g);
/* Adds an op, which lasts from op_ps, and its launch from launch_ps on. `launch` numbers launches.
 * VP_ENOMEM, VP_ELIMIT. */
int derived_add_launched(derived *d, int64_t correlation, int64_t op_ps, int64_t launch_ps,
                         derived_launched of);
/* The op with this id and start; NULL: its launch is unknown. */
const derived_launched *derived_op_launched(const derived *d, int64_t correlation, int64_t op_ps);
/* The number of the launch with this id and start, or VP_MAP_NONE: no op has it. */
uint32_t derived_launch_number(const derived *d, int64_t correlation, int64_t launch_ps);
static inline vp_str derived_text(const derived *d, vp_sid id)
{
    return vp_intern_get(&d->names, id);
}

#endif
