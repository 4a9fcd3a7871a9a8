/* Statistics and classes of steps whose windows are known: for one host, and again after merging
 * hosts. */
#ifndef VP_ANALYZE_STEPS_JUDGE_H
#define VP_ANALYZE_STEPS_JUDGE_H

#include "include/view_profile.h"
#include "trace/base/arena.h"

/* Computes from the list (sorted by time; number, start, dur, partial) everything else of s except
 * the source: warm_up and step_class of each step, the statistics, the groups (in the arena).
 * Replaces previous values. A list without steps gives VP_UNKNOWN; one without complete steps gives
 * 0 counted. VP_ENOMEM.
 *
 * warm_up: the very first of at least 5 steps, if it is complete and slow. Percentiles are by
 * nearest rank.
 *
 * Groups are ranges of the sorted durations that are apart. A cut needs a gap of 10%, and of twice
 * the spread (p10 to p90) of the durations on either side. A group needs 3 members, or 2 of up to
 * 20 steps. Groups are only named if there are at least 2, of at least 6 steps, that have 90% of
 * the steps, or 80% if one of them has a period: noise has no such gaps. The largest group is the
 * normal one. The period of a group is the distance of its members in the list, if that is always
 * the same and there are at least 3. */
int steps_judge(vp_steps *s, vp_arena *arena);
/* Robust z (docs/reference/metrics.md#step-statistics): (x − median) / (1.4826 MAD), where 1.4826
 * MAD estimates the deviation of normally distributed steps. The MAD is at least 0.1% of the
 * median, so that a MAD of 0 does not make every jitter an outlier. 0 without a median. */
double steps_robust_z(const vp_steps *s, int64_t dur_ps);
/* A slow outlier (docs/reference/findings.md#f12-step-outlier): there are at least 5 complete
 * steps, and it takes more than twice the median or has a z above 10. */
bool steps_slow(const vp_steps *s, int64_t dur_ps);

#endif
