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
    EX_KEPT,    /* written, *p is after it */
    EX_EMPTY,   /* an event `{}`: nothing was written, *p is after it */
    EX_USELESS, /* an event without a usable ts: nothing was written, *p is after it */
    EX_BROKEN,  /* invalid JSON: nothing was written, *p is at the error */
} ex_verdict;

/* The members of an event that determine its position. */
typedef enum ex_field {           /* shortest names first */
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

/* Positions of member values in the written text of an event, including quotes and brackets,
 * relative to its `{`; n = 0: no such member. The last one wins. */
typedef struct ex_fields {
    struct {
        uint32_t at, n;
    } v[EX_FIELDS];
    bool bad_dur; /* was not a number; 0 was written */
} ex_fields;

/* The field of a key, EX_FIELDS: another key. */
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

/* Parses the event at *p quickly if it is complete in [*p,end) and an object. Values are not
 * checked, unless the event is metadata, or its phase, times or ids need another form. EX_KEPT,
 * EX_EMPTY: *p is after it. EX_MORE: it may continue after end; EX_BROKEN: needs ex_json_value. */
ex_verdict ex_json_glance(const char **p, const char *end, ex_fields *event);

/* Skips the event at *p if it is complete in [*p,end) and ex_json_value would copy it byte for
 * byte. false: needs ex_json_value. */
bool ex_json_plain(const char **p, const char *end, ex_fields *event);

/* Scans the value at *p (no white space before it) and appends it to out, whose status reports
 * errors. RD_PAD bytes after end must be readable. With `event` the rules for members of an event
 * apply: a pid, tid, dur, tts or tdur that is neither number nor string becomes 0 (`"dur":null`
 * makes the importer refuse the file); a missing ts makes the event unusable; positions of its
 * members are returned. Counts repairs if the value is kept. */
ex_verdict ex_json_value(vp_buf *out, const char **p, const char *end, ex_fields *event,
                         ex_clean_counts *counts);

/* Skips a value of any size without storing it; zeroed before the first call. */
typedef struct ex_json_skipper {
    uint64_t depth;
    bool in_string, escaped, in_scalar;
} ex_json_skipper;

/* Returns true if the value ends at the returned *p; false if [*p,end) is used up. */
bool ex_json_skip(ex_json_skipper *s, const char **p, const char *end);

#endif
