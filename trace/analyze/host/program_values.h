/* What the program says of itself: arguments, counters and facts.
 *
 * They come from the recorder (VP_SCOPE_ARGS, VP_COUNTER, vp_meta_*) and are added up while the
 * XSpace or the .vpcap is read: a row for each argument of each zone, however many calls there are
 * (ceilings VP_ARGS_MAX, VP_ARG_VALUES_MAX, VP_METAS_MAX). The report lists the 100 of each host
 * with most calls (of meta the first) and how many there were (arg_total, counter_total,
 * meta_total). Numbers and texts of one key are told apart; of texts the 64 that came first are
 * counted one by one (distinct is null where there were more), each cut at 200 bytes. A fact whose
 * key names a secret is not shown; quality has "credentials". Stats that other profilers write are
 * not taken for arguments, nor are a Trace Event JSON's args; the report of one step has only meta.
 */
#ifndef VP_ANALYZE_PROGRAM_VALUES_H
#define VP_ANALYZE_PROGRAM_VALUES_H

#include "trace/analyze/result/analysis.h"

/* Fills h->args, h->counters and h->meta. */
int args_collect(analysis *a);

#endif
