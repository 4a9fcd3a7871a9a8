/* Writes the details of one op as JSON into a buffer of the caller. */
#ifndef VP_REPORT_OP_JSON_H
#define VP_REPORT_OP_JSON_H

#include "trace/analyze/op_details.h"
#include "trace/base/buf.h"

/* view_profile.op/1, the content of the page of r->ops[op]: the row of the report, its slowest
 * calls, their histogram, raw names, launches, and its neighborhood in the program. Times are on
 * the report's clock, in ps. */
int rep_op_json(vp_buf *b, const vp_report *r, size_t op, const op_details *d);

#endif
