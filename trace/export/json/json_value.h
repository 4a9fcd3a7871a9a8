/* Copies one JSON value byte for byte, and fixes what is invalid JSON (RFC 8259: invalid UTF-8,
 * control bytes, non-standard escapes, white space, numbers, trailing commas) or rejected by the
 * Perfetto importer (docs/reference/perfetto.md#json-values: escaped surrogates). Iterative, with a
 * bounded stack. The result depends only on the bytes of the value, never on chunk boundaries. */
#ifndef VP_EXPORT_JSON_VALUE_H
#define VP_EXPORT_JSON_VALUE_H

#include "trace/base/buf.h"
#include "trace/export/export.h"

/* Deeper values are refused. Browsers stop at a few thousand levels, real args at five. */
#define EX_JSON_DEPTH 32768u

typedef enum ex_verdict {
    EX_MORE,    /* [p,end) ends inside the value; nothing was written */
    EX_KEPT,    /* written, *p stands behind it */
    EX_EMPTY,   /* an event `{}`: nothing was written, *p stands behind it */
    EX_USELESS, /* an event without a usable ts: nothing was written, *p stands behind it */
    EX_BROKEN,  /* not JSON: nothing was written, *p stands where it stops being JSON */
} ex_verdict;

/* The members of an event that decide where it lies. */
typedef enum ex_field {           /* the shortest names first */
                        EX_SCOPE, /* "s" */
                        EX_PH,
                        EX_TS,
                        EX_ID,
                        EX_BP,
                        EX_DUR,
                        EX_PID,
                        EX_TID,
                        EX_CAT,
                        EX_ID2,
                        EX_NAME,
                        EX_ARGS,
                        EX_BIND, /* bind_id */
                        EX_FLOW_IN,
                        EX_FLOW_OUT,
                        EX_FIELDS
} ex_field;

/* Where the values of an event's own members stand in what was written of it, quotes and brackets
 * included, counted from its `{`; n = 0: it has no such member. Of several the last one. */
typedef struct ex_fields {
    struct {
        uint32_t at, n;
    } v[EX_FIELDS];
    bool bad_dur; /* was no number; 0 was written */
} ex_fields;

/* The field of a key, EX_FIELDS: another. */
static inline ex_field ex_field_of(vp_str key)
{
#define IS(name, field)                                                                            \
    if (VP_SAME(key.p, name))                                                                      \
    return field
    switch (key.n) {
    case 1:
        IS("s", EX_SCOPE);
        break;
    case 2:
        IS("ph", EX_PH);
        IS("ts", EX_TS);
        IS("id", EX_ID);
        IS("bp", EX_BP);
        break;
    case 3:
        IS("pid", EX_PID);
        IS("tid", EX_TID);
        IS("dur", EX_DUR);
        IS("cat", EX_CAT);
        IS("id2", EX_ID2);
        break;
    case 4:
        IS("name", EX_NAME);
        IS("args", EX_ARGS);
        break;
    case 7:
        IS("bind_id", EX_BIND);
        IS("flow_in", EX_FLOW_IN);
        break;
    case 8:
        IS("flow_out", EX_FLOW_OUT);
        break;
    }
    return EX_FIELDS;
#undef IS
}

/* Takes the event at *p where it is whole in [*p,end) and reads as an object, without looking at
 * what its values are made of, unless it names something, or its phase, times or ids would be
 * written in another form. EX_KEPT, EX_EMPTY: *p stands behind it.
 * EX_MORE: it may go on behind end; EX_BROKEN: only ex_json_value can tell. */
ex_verdict ex_json_glance(const char **p, const char *end, ex_fields *event);

/* Takes the event at *p where it is whole in [*p,end) and ex_json_value would copy it byte for
 * byte: then *p stands behind it. false: only ex_json_value can tell. */
bool ex_json_plain(const char **p, const char *end, ex_fields *event);

/* Scans the value at *p (no white space before it) and appends it to out, whose status tells
 * whether that worked. RD_PAD bytes behind end are readable. With `event` the rules for the members
 * of an event apply: pid, tid, dur, tts and tdur that are neither number nor string become 0
 * (`"dur":null` makes the importer refuse the file), ts cannot be invented; where its members stand
 * is told. Counts what was repaired when the value is kept. */
ex_verdict ex_json_value(vp_buf *out, const char **p, const char *end, ex_fields *event,
                         ex_clean_counts *counts);

/* Runs over a value of any size without keeping it; zeroed before the first call. */
typedef struct ex_json_skipper {
    uint64_t depth;
    bool in_string, escaped, in_scalar;
} ex_json_skipper;

/* True when the value ends at the returned *p; false when [*p,end) is used up. */
bool ex_json_skip(ex_json_skipper *s, const char **p, const char *end);

#endif
