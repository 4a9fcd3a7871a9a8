/* Escapes text from files for HTML and addresses. */
#ifndef VP_REPORT_ESCAPE_H
#define VP_REPORT_ESCAPE_H

#include "trace/base/buf.h"

/* Escapes HTML text and attribute values; the only function that does. Controls, bidi controls and
 * invalid UTF-8 become visible escapes. */
int rep_html_escape(vp_buf *b, vp_str s);
/* Percent-encodes all characters except letters, digits and those in `plain`. */
int rep_put_url(vp_buf *b, vp_str s, const char *plain);
/* Appends `before` and the address that opens a source line ("model.py:12") in an editor,
 * "vscode://file/…". Relative paths are below root ("" if unknown). Returns false without output if
 * the path cannot be made absolute or leaves root: the profile is untrusted. */
bool rep_put_source_url(vp_buf *b, const char *before, vp_str source, const char *root);

#endif
