/* The sentence on ops that share the code of an equal one, beside the tables of what ops could be
 * rid of. Only trace/report/ includes this; nothing is owned. */
#ifndef VP_REPORT_SHARED_CODE_H
#define VP_REPORT_SHARED_CODE_H

#include "include/view_profile.h"
#include "trace/base/buf.h"

/* "63.604 ms, 96.78%, …" on the ops of shown devices that share code; nothing where none does. */
void rep_put_shared_code(vp_buf *b, const vp_report *r, const vp_view *v);

#endif
