/* What values of a program are for: look-ups, updates of tables, and work that is done twice. Sets
 * the flags of hlo_values.h that depend on users of a value. */
#ifndef VP_ANALYZE_HLO_USES_H
#define VP_ANALYZE_HLO_USES_H

#include "trace/analyze/avoidable/hlo_values.h"

/* VP_ENOMEM. */
int hlo_uses_mark(const hlo_program *p, hlo_values *x);

#endif
