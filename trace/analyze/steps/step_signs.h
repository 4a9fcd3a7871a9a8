/* Recognizes step annotations by their name and stats. Pure functions. */
#ifndef VP_ANALYZE_STEP_SIGNS_H
#define VP_ANALYZE_STEP_SIGNS_H

#include "trace/model/trace.h"

/* XLA marks the root of a step by its level, "_r". */
bool step_is_root(const trace_track *k, size_t event);
/* Whether the event is numbered as steps are. TensorFlow's executor numbers its iterations, too:
 * those are C++ functions, which nobody annotates steps with. */
bool step_is_numbered(const trace *t, const trace_track *k, size_t event);

#endif
