/* Writers of a comparison in all formats. They append to a buffer of the caller. */
#ifndef VP_REPORT_COMPARE_FORMATS_H
#define VP_REPORT_COMPARE_FORMATS_H

#include "trace/base/json.h"
#include "trace/report/html/html.h"

int rep_compare_text(vp_buf *b, const vp_comparison *c, const vp_view *v);
int rep_compare_json(vp_buf *b, const vp_comparison *c); /* view_profile.compare/1 */
/* One row of its "ops". */
void rep_json_compared_op(vp_json *j, const vp_compared_op *op);
/* One row per op, class of a device, scope or finding, depending on `kind`. */
int rep_compare_csv(vp_buf *b, const vp_comparison *c);
int rep_compare_md(vp_buf *b, const vp_comparison *c, const vp_view *v);
int rep_compare_junit(vp_buf *b, const vp_comparison *c, bool failed); /* failed: by a gate */
/* A page about two reports, by the rules of the pages of one report; links->base also leads to
 * their runs. */
int rep_compare_html(vp_buf *b, const vp_comparison *c, const rep_links *links);

#endif
