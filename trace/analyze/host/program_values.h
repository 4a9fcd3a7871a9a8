/* Arguments, counters and metadata that the program recorded, as rows of the result. Fails only if
 * out of memory.
 *
 * They come from the recorder (VP_SCOPE_ARGS, VP_COUNTER, vp_meta_*) and are summed while the
 * XSpace or the .vpcap is read: one row per argument of each zone, for any number of calls (limits
 * VP_ARGS_MAX, VP_ARG_VALUES_MAX, VP_METAS_MAX). The report lists the 100 with the most calls per
 * host (for metadata the first 100) and the totals (arg_total, counter_total, meta_total). Numbers
 * and texts of one key are separate rows. The first 64 texts are counted separately (distinct is
 * null if there are more), each truncated to 200 bytes. Metadata whose key names a secret is not
 * shown; quality has "credentials". Stats of other profilers and args of Trace Event JSON are not
 * arguments. The report of one step has only metadata. */
#ifndef VP_ANALYZE_PROGRAM_VALUES_H
#define VP_ANALYZE_PROGRAM_VALUES_H

#include "trace/analyze/result/analysis.h"

/* Fills h->args, h->counters and h->meta. */
int args_collect(analysis *a);

#endif
