/* Class of an op: compute, communication or copy (docs/reference/metrics.md#op-classes), and the
 * name of its group (docs/reference/metrics.md#op-names). Classify before normalizing the name.
 * Pure functions. */
#ifndef VP_ANALYZE_CLASSIFY_H
#define VP_ANALYZE_CLASSIFY_H

#include "include/view_profile.h"
#include "trace/base/buf.h"
#include "trace/model/trace.h"

/* The first match wins: Kineto's category, hlo_category, HLO opcode, the stream's label, the name.
 */
vp_op_class cl_class(const trace *t, const trace_kind *k);
/* The same from its parts: category as in the trace, opcode may be empty. For tests. */
vp_op_class cl_class_of(vp_str name, vp_str category, vp_str opcode, vp_str stream_label);

/* The HLO op of the event: hlo_category, else opcode. Empty for kernels of a GPU. */
vp_str cl_hlo(const trace *t, const trace_kind *k);

/* Appends the group name of a raw op name: without numbers, clone and remat suffixes, parameter
 * lists and template arguments except the first functor. */
int cl_normalize(vp_buf *out, vp_str raw);

#endif
