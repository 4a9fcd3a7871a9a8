/* Creates reports of whole runs: merged from parts, or empty to be filled by a reader. Callers
 * outside of analyze/ use analyze.h. analyze_free frees a report. */
#ifndef VP_ANALYZE_WHOLE_H
#define VP_ANALYZE_WHOLE_H

#include "include/view_profile.h"

void analyze_free(vp_report *r);

/* Merges reports, in any order, which the caller owns. VP_EARG: no reports, different groupings, or
 * the same host twice. */
int report_merge(vp_report **out, const vp_report *const *parts, size_t n);
/* VP_EARG if the reports cannot be of one job, with the reason: world sizes, ranks or times. *which
 * is the report that differs. VP_ENOMEM. */
int report_check_job(const vp_report *const *parts, size_t n, size_t *which);
/* An empty report whose owner_ is a vp_arena, and the computed parts of a report that was read: the
 * statistics of its steps, balance and findings. */
int report_new(vp_report **out);
int report_finish(vp_report *r);

#endif
