/* Writes a JSON string that Perfetto can read. */
#ifndef VP_EXPORT_QUOTE_H
#define VP_EXPORT_QUOTE_H

#include "trace/base/buf.h"

/* Appends the string. Perfetto up to v52 treats a string that ends in an escaped backslash as
 * unclosed (docs/reference/perfetto.md#importer-of-v52): that backslash is written as \u005c. */
int ex_quote(vp_buf *b, vp_str s);

#endif
