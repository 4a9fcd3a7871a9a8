/* The sentence on ops with the same code as another op, for tables of avoidable work. Nothing is
 * owned. */
#ifndef VP_REPORT_SHARED_CODE_H
#define VP_REPORT_SHARED_CODE_H

#include "include/view_profile.h"
#include "trace/base/buf.h"

/* Appends "63.604 ms, 96.78% of op time, …" for ops of shown devices that share code, if there are
 * any. */
void rep_put_shared_code(vp_buf *b, const vp_report *r, const vp_view *v);

#endif
