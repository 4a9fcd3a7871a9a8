/* Recognizes step annotations by their name and stats. Pure functions. */
#ifndef VP_ANALYZE_STEP_SIGNS_H
#define VP_ANALYZE_STEP_SIGNS_H

#include "trace/model/trace.h"

/* XLA marks the root of a step by its level, "_r". */
bool step_is_root(const trace_track *k, size_t event);
/* True if the event is numbered like a step. TensorFlow's executor also numbers its iterations, but
 * those are C++ functions, which are never step annotations. */
bool step_is_numbered(const trace *t, const trace_track *k, size_t event);

#endif
