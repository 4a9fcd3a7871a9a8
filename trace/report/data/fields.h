/* One description of each struct of a report, from which its JSON is written and read back: the two
 * cannot drift apart, and a figure that is described survives the way through a file. Only
 * trace/report/ includes this. Tables are constant; texts that are read live in the report's arena.
 *
 * What follows from the rest (shares, rates, balance, the statistics of steps, findings) is
 * written, and made anew on reading. device_index beside a device's name is its place in devices,
 * since names may repeat. complete is false where a view left rows out or only op tables were made;
 * such a report is not read back. */
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
    REP_ROUNDED, /* double that is a whole number of ps; negative or no number is null */
    REP_NUMBER,  /* double; no number is null */
    REP_BOOL,
    REP_WORD,      /* an enum, by `words` */
    REP_DEVICE,    /* uint32_t: three keys, `key` (its name), "host" and "device_index" */
    REP_BY_WORD,   /* int64_t[], never unknown, as an object by `words`; at most VP_CAUSES */
    REP_OBJECT,    /* a part of the struct by `fields`, which count from `at`; with a size, what a
                      pointer there leads to, of which NULL is null */
    REP_LIST,      /* an array of structs of `size` bytes by `fields`, its length at count_at */
    REP_COUNTS,    /* an array of int64_t, its length at count_at */
    REP_TEXTS,     /* an array of const char *, its length at count_at */
    REP_BY_DEVICE, /* as REP_LIST over vp_device, but the devices are there already */
    REP_CHILDREN,  /* an array of objects of the same table, which the writer of the tree fills */
    REP_PAIRS,     /* an array of arrays of two integers; only made */
    REP_DELTAS     /* vp_delta[], as an object by `words` of rep_delta_fields; written only */
} rep_field_type;

/* While a report is written. */
typedef struct rep_json_out {
    vp_json j;
    const vp_report *r;
    const uint32_t *place; /* by device: its number as written, VP_NO_DEVICE when it is left out */
    int64_t cumulative_ps; /* of the op that is being written */
} rep_json_out;

typedef struct rep_field {
    const char *key; /* NULL ends a table */
    uint16_t at, count_at, size;
    uint8_t type; /* rep_field_type */
    /* full: unknown, and null, unless the report is of VP_DEPTH_FULL. needed: text that is never
     * NULL, read as "" where it is; a figure never unknown: 0. unsummed: a clock, or FLOPs: may be
     * so large that no sum over rows would fit. later: added after the first release, so that older
     * reports lack the key; of an array beside others of its length: NULL, and null. made: written
     * and not read back, because it follows from other fields. optional: the key may be missing.
     * sparse: items of an array that are negative are unknown, and null. */
    bool full : 1, needed : 1, unsummed : 1, later : 1, made : 1, optional : 1, sparse : 1;
    union {
        const struct rep_field *fields; /* of what has a struct of its own */
        const char *const *words;       /* REP_WORD: by value; NULL-terminated */
        const char *name;               /* last row: of the object, as the schema calls it */
    };
    void (*put)(rep_json_out *o, const void *base); /* instead of what the type does */
    /* For the schema and docs/reference/report.md. about: one sentence on the field; in the last
     * row on the object. unit: if the end of the key does not show it (documents.h); "": none.
     * null: what null means, if the type does not show it. */
    const char *about, *unit, *null;
} rep_field;

/* A report in the order of its JSON, all over vp_report; between ops and the tail stands the tree
 * of scopes. Writers choose the rows of devices and ops by a view. */
extern const rep_field rep_head_fields[]; /* session, window, analysis */
extern const rep_field rep_devices_fields[], rep_ops_fields[];
extern const rep_field rep_scopes_fields[]; /* described only: the tree has a writer of its own */
extern const rep_field rep_tail_fields[], rep_memory_fields[], rep_quality_fields[];
extern const rep_field rep_findings_fields[]; /* written only; computed again after reading */
extern const rep_field rep_op_row_fields[], rep_op_details_fields[]; /* over vp_op, op_details */
extern const rep_field rep_history_fields[], rep_trend_fields[];     /* of trend/ */
extern const rep_field rep_compare_fields[];                         /* of compare/ */
/* Of the structs alone. */
extern const rep_field rep_device_fields[], rep_op_fields[], rep_scope_fields[];
extern const rep_field rep_breakdown_fields[], rep_launch_fields[], rep_roof_fields[];
extern const rep_field rep_delta_fields[];

/* Words that have no enum of their own; NULL-terminated. */
extern const char *const rep_policy_words[], *const rep_clock_words[], *const rep_bound_words[];

/* The members of an open object; whole objects. */
void rep_put_fields(rep_json_out *o, const rep_field *fields, const void *base);
void rep_put_object(rep_json_out *o, const rep_field *fields, const void *base);

/* While a report is read. Failures say the place as "ops[3].calls". */
typedef struct rep_json_in {
    vp_arena *arena;
    size_t device_count; /* so far: references are checked against it */
    vp_device *devices;
    vp_map sum_at; /* by field: its place in sums; what is added up over rows must fit */
    int64_t sums[256];
    bool in_tree; /* of scopes: its nodes hold each other, and are checked as a tree */
} rep_json_in;

typedef struct rep_place {
    const struct rep_place *up; /* NULL: the root */
    const char *key;
    size_t index; /* of an array's item, else SIZE_MAX */
} rep_place;

/* Fills the struct at base; keys that are not there are unknown, keys that no table has are
 * skipped. VP_ECORRUPT, VP_ENOMEM. */
int rep_get_fields(rep_json_in *in, const rep_field *fields, const json_t *object, void *base,
                   const rep_place *place);
int rep_bad_json(const rep_place *place, const char *what); /* records and returns VP_ECORRUPT */
/* JSON null and absent are NULL; anything but text is VP_ECORRUPT. */
int rep_get_text(rep_json_in *in, const char **out, const json_t *v, const rep_place *place);

/* A file's content ("-": standard input) behind what b holds already. */
int rep_read_text(vp_buf *b, const char *path);
/* A regular file that begins with an object whose first bytes hold this. */
bool rep_starts_with(const char *path, const char *part);

#endif
