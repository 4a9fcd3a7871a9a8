/* Avoidable work of a device (formatting, padding, duplicates) and splits of ops by shape or
 * module. Values go into the result. */
#ifndef VP_ANALYZE_HYGIENE_H
#define VP_ANALYZE_HYGIENE_H

#include "trace/analyze/result/analysis.h"

/* Sets the hygiene of each device and the splits of h->ops. */
int hygiene_collect(analysis *a);
/* True if an op only changes the form of data: transpose, copy, reshape. */
bool op_is_formatting(const trace *t, const trace_kind *k);
/* Whether an op calls back into the host's program. */
bool op_is_callback(const trace *t, const trace_kind *k);

#endif
