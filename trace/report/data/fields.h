/* One table of fields for each struct of a report. The JSON writer and the reader use the same
 * table, so every described field survives a round trip. Tables are constant; texts that are read
 * are allocated in the report's arena.
 *
 * Values that follow from others (shares, rates, balance, statistics of steps, findings) are
 * written, and recomputed on reading. device_index next to a device's name is its index in devices,
 * because names may repeat. complete is false if a view left out rows or if only op tables were
 * made; such a report cannot be read back. */
#ifndef VP_REPORT_FIELDS_H
#define VP_REPORT_FIELDS_H

#include <jansson.h>

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/base/json.h"
#include "trace/base/map.h"

typedef enum rep_field_type {
    REP_TEXT,    /* const char *; NULL is null */
    REP_COUNT,   /* int64_t; VP_UNKNOWN is null */
    REP_TIME,    /* int64_t; VP_NO_TIME is null */
    REP_INTEGER, /* int64_t, never unknown */
    REP_ID,      /* int64_t of 64 bits, printed unsigned; VP_UNKNOWN is null */
    REP_ROUNDED, /* double, a whole number of ps; negative values and NaN are null */
    REP_NUMBER,  /* double; NaN is null */
    REP_BOOL,
    REP_WORD,      /* an enum, by `words` */
    REP_DEVICE,    /* uint32_t: three keys, `key` (its name), "host" and "device_index" */
    REP_BY_WORD,   /* int64_t[], never unknown, as an object with the keys `words`; at most
                    * VP_CAUSES */
    REP_OBJECT,    /* a part of the struct by `fields`, which count from `at`; with a size, the
                      struct to which a pointer there leads, and NULL is null */
    REP_LIST,      /* an array of structs of `size` bytes by `fields`, its length at count_at */
    REP_COUNTS,    /* an array of int64_t, its length at count_at */
    REP_TEXTS,     /* an array of const char *, its length at count_at */
    REP_BY_DEVICE, /* as REP_LIST of vp_device, but the devices exist already */
    REP_CHILDREN,  /* an array of objects of the same table, written by the tree's own writer */
    REP_PAIRS,     /* an array of arrays of two integers; written only */
    REP_DELTAS     /* vp_delta[], as an object of rep_delta_fields by `words`; written only */
} rep_field_type;

/* State while a report is written. */
typedef struct rep_json_out {
    vp_json j;
    const vp_report *r;
    const uint32_t *place; /* by device: its index in the output, VP_NO_DEVICE if it is left out */
    int64_t cumulative_ps; /* the op that is being written */
} rep_json_out;

typedef struct rep_field {
    const char *key; /* NULL ends a table */
    uint16_t at, count_at, size;
    uint8_t type; /* rep_field_type */
    /* full: unknown, and null, unless the report is of VP_DEPTH_FULL. needed: a text that is never
     * NULL and is read as "" if null; a figure that is never unknown and is read as 0. unsummed: a
     * clock or FLOPs, which may be too large to be summed over rows. later: added after the first
     * release; older reports lack the key, and an array next to others of its length is NULL, and
     * null. made: written and not read back, because it follows from other fields. optional: the
     * key may be missing. sparse: negative items of an array are unknown, and null. */
    bool full : 1, needed : 1, unsummed : 1, later : 1, made : 1, optional : 1, sparse : 1;
    union {
        const struct rep_field *fields; /* table of a nested struct */
        const char *const *words;       /* REP_WORD: by value; NULL-terminated */
        const char *name;               /* last row: the name of the object in the schema */
    };
    void (*put)(rep_json_out *o, const void *base); /* replaces the writer of the type */
    /* For the schema and docs/reference/report.md. about: one sentence on the field; in the last
     * row on the object. unit: if the end of the key does not show it (documents.h); "": none.
     * null: what null means, if the type does not show it. */
    const char *about, *unit, *null;
} rep_field;

/* The parts of a report in the order of its JSON, all of vp_report; the tree of scopes is between
 * ops and the tail. The view selects the rows of devices and ops. */
extern const rep_field rep_head_fields[]; /* session, window, analysis */
extern const rep_field rep_devices_fields[], rep_ops_fields[];
extern const rep_field rep_scopes_fields[]; /* description only: the tree has its own writer */
extern const rep_field rep_tail_fields[], rep_memory_fields[], rep_quality_fields[];
extern const rep_field rep_findings_fields[]; /* written only; computed again after reading */
extern const rep_field rep_op_row_fields[], rep_op_details_fields[]; /* of vp_op, op_details */
extern const rep_field rep_history_fields[], rep_trend_fields[];     /* of trend/ */
extern const rep_field rep_compare_fields[];                         /* of compare/ */
/* Tables of single structs. */
extern const rep_field rep_device_fields[], rep_op_fields[], rep_scope_fields[];
extern const rep_field rep_breakdown_fields[], rep_launch_fields[], rep_roof_fields[];
extern const rep_field rep_delta_fields[];

/* Words without an enum; NULL-terminated. */
extern const char *const rep_policy_words[], *const rep_clock_words[], *const rep_bound_words[];

/* Writes the members of an open object, or whole objects. */
void rep_put_fields(rep_json_out *o, const rep_field *fields, const void *base);
void rep_put_object(rep_json_out *o, const rep_field *fields, const void *base);

/* State while a report is read. Errors name the place as "ops[3].calls". */
typedef struct rep_json_in {
    vp_arena *arena;
    size_t device_count; /* read so far; references are checked against it */
    vp_device *devices;
    vp_map sum_at; /* by field: its index in sums; sums over rows must not overflow */
    int64_t sums[256];
    bool in_tree; /* scopes refer to each other by index and are checked as a tree */
} rep_json_in;

typedef struct rep_place {
    const struct rep_place *up; /* NULL: the root */
    const char *key;
    size_t index; /* index of an array's item, else SIZE_MAX */
} rep_place;

/* Fills the struct at base; missing keys are unknown, and keys without a field are skipped.
 * VP_ECORRUPT, VP_ENOMEM. */
int rep_get_fields(rep_json_in *in, const rep_field *fields, const json_t *object, void *base,
                   const rep_place *place);
int rep_bad_json(const rep_place *place, const char *what); /* records and returns VP_ECORRUPT */
/* JSON null and absent keys are NULL; other types than text are VP_ECORRUPT. */
int rep_get_text(rep_json_in *in, const char **out, const json_t *v, const rep_place *place);

/* Appends the content of a file ("-": standard input) to b. */
int rep_read_text(vp_buf *b, const char *path);
/* True for a regular file that begins with an object and contains this text in its first bytes. */
bool rep_starts_with(const char *path, const char *part);

#endif
