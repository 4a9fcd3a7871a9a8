/* What comes from a file, made safe for HTML and addresses. */
#ifndef VP_REPORT_ESCAPE_H
#define VP_REPORT_ESCAPE_H

#include "trace/base/buf.h"

/* Escaping for HTML text and attribute values, the only place that does it. Controls, bidi
 * controls and invalid UTF-8 become visible escapes. */
int rep_html_escape(vp_buf *b, vp_str s);
/* For an address: letters, digits and what is in `plain` as they are, all else as %XX. */
int rep_put_url(vp_buf *b, vp_str s, const char *plain);
/* The address that opens a source line ("model.py:12") in an editor, "vscode://file/…", after
 * `before`; relative ones lie below root, "" where that is unknown. false, and nothing is appended:
 * it is neither absolute nor can it be made so, or leads out again; a profile may name what it
 * likes. */
bool rep_put_source_url(vp_buf *b, const char *before, vp_str source, const char *root);

#endif
