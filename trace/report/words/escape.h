/* What comes from a file, made safe for HTML. Included by all who write pages. */
#ifndef VP_REPORT_ESCAPE_H
#define VP_REPORT_ESCAPE_H

#include "trace/base/buf.h"

/* Escaping for HTML text and attribute values, the only place that does it. Controls, bidi
 * controls and invalid UTF-8 become visible escapes. */
int rep_html_escape(vp_buf *b, vp_str s);

#endif
