/* Tracks that a trace lacks and its analysis can tell: steps, runs of modules, framework scopes,
 * what a device's time went to. A plain value that outlives the trace: analyze/ fills it,
 * export/ writes it behind a file's own tracks, and the timeline of our own shows it above them.
 * Whoever made one frees it, by one call.
 *
 *   groups (a device, or the host) ─< tracks ─< slices (start, end, name, what its kind says of it)
 *
 * Times are the trace's (model/trace.h): those of a group lie on the host's clock, or, of a device
 * that has one, on its own, which the group says. Slices of a track come by (start asc, end desc)
 * and nest or touch, never cross; `depth` counts the slices around one. */
#ifndef VP_MODEL_DERIVED_H
#define VP_MODEL_DERIVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/arena.h"
#include "trace/base/buf.h"

/* X(kind, title of the track, keys of a slice's two numbers and two texts; NULL: it has none).
 * Their order is that of the tracks in a group, from above. Keys that end in _ps count picoseconds.
 */
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

/* What a moment of a device counts as, and what slices of DERIVED_PARTS are called. */
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
#define DERIVED_UNKNOWN INT64_C(-1) /* as VP_UNKNOWN */

typedef struct derived_kind_row {
    const char *word; /* "STEPS" */
    const char *title;
    const char *number[DERIVED_NUMBERS], *text[DERIVED_TEXTS];
} derived_kind_row;
extern const derived_kind_row derived_kinds[DERIVED_KIND_COUNT];

typedef struct derived_slice {
    int64_t start_ps, end_ps;
    int64_t number[DERIVED_NUMBERS];  /* VP_UNKNOWN (-1): this one lacks it */
    vp_sid name, text[DERIVED_TEXTS]; /* in `names`; 0: this one lacks it */
    uint32_t depth;
} derived_slice;

/* What is kept of a slice whose times and name are known otherwise; as in derived_slice. */
typedef struct derived_note {
    int64_t number[DERIVED_NUMBERS];
    vp_sid text[DERIVED_TEXTS];
} derived_note;

typedef struct derived_track {
    derived_kind kind;
    uint32_t group;
    vp_sid name;  /* the kind's title, or that and what tells it from its like: a stream's name */
    size_t first; /* of its slices */
    size_t count;
} derived_track;

typedef struct derived_group {
    vp_sid name; /* of the device; "" : the host as a whole */
    bool is_host;
    bool own_clock;   /* of the device: not that of the file's own tracks */
    int64_t shift_ps; /* own_clock: to be added, so that its first op lies where the file has it */
} derived_group;

typedef struct derived {
    vp_arena arena; /* of names */
    vp_intern names;
    derived_group *groups;
    size_t group_count, group_cap;
    derived_track *tracks;
    size_t track_count, track_cap;
    derived_slice *slices; /* NULL once there are notes */
    size_t slice_count, slice_cap;
    derived_note *notes;    /* of each slice, since derived_keep_notes */
    uint64_t left_out;      /* beyond VP_DERIVED_MAX */
    int64_t file_origin_ns; /* the file's own time at the trace's 0, as in trace */
    size_t file;            /* of the session's: whose times these are */
    int64_t origin_ps;      /* where the report's time 0 lies in the trace */
} derived;

int derived_new(derived **out);
void derived_free(derived *d);
uint64_t derived_bytes(const derived *d); /* of memory; 0: d is NULL */
/* Appends a group, and a track to the last group, whose slices are appended from now on. A `more`
 * that is not empty tells it from other tracks of its kind in the group. VP_ENOMEM, VP_ELIMIT. */
int derived_add_group(derived *d, vp_str name);
int derived_add_track(derived *d, derived_kind kind, vp_str more);
/* Appends a slice to the last track; *at is its place in d->slices, until the next is appended, or
 * SIZE_MAX where there is no room any more (counted in left_out). at may be NULL. */
int derived_add(derived *d, const derived_slice *s, size_t *at);
int derived_name(derived *d, vp_sid *out, vp_str text);
/* The last track has all its slices: drops it when there are none, sorts them and sets their depth.
 * Slices that cross an earlier one go to further tracks of the same name, "NAME (2)", …. */
int derived_end_track(derived *d);
/* Of the slices only what their kinds say of them, in half the memory. */
void derived_keep_notes(derived *d);
/* What the group is called beside the file's own: "/device:GPU:0 (analysis)". */
int derived_group_name(vp_buf *b, const derived *d, const derived_group *g);
static inline vp_str derived_text(const derived *d, vp_sid id)
{
    return vp_intern_get(&d->names, id);
}

#endif
