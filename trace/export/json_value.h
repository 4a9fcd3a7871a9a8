/* One JSON value, copied byte for byte except for what is no JSON (RFC 8259: bytes that are not
 * UTF-8, control bytes, escapes and white space of others, number forms, trailing commas) and what
 * the Perfetto importer refuses (perfetto.md 0.8, 2.2: escaped surrogates). Iterative, with a
 * bounded stack; the decision depends only on the value's own bytes, never on how it was cut into
 * chunks. Only the clean-up stream includes this. */
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

/* Scans the value at *p (no white space before it) and appends it to out, whose status tells
 * whether that worked. RD_PAD bytes behind end are readable. With `event` the rules for the members
 * of an event apply: pid, tid, dur, tts and tdur that are neither number nor string become 0
 * (`"dur":null` makes the importer refuse the file), ts cannot be invented. Counts what was
 * repaired when the value is kept. */
ex_verdict ex_json_value(vp_buf *out, const char **p, const char *end, bool event,
                         ex_clean_counts *counts);

/* Runs over a value of any size without keeping it; zeroed before the first call. */
typedef struct ex_json_skipper {
    uint64_t depth;
    bool in_string, escaped, in_scalar;
} ex_json_skipper;

/* True when the value ends at the returned *p; false when [*p,end) is used up. */
bool ex_json_skip(ex_json_skipper *s, const char **p, const char *end);

#endif
