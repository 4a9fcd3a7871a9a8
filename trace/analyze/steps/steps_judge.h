/* What is said about steps once their windows are known: of one host, and again when the steps of
 * several hosts are joined. Only analyze/ includes this. */
#ifndef VP_ANALYZE_STEPS_JUDGE_H
#define VP_ANALYZE_STEPS_JUDGE_H

#include "include/view_profile.h"
#include "trace/base/arena.h"

/* From the list (by time; number, start, dur, partial) everything else of s but the source:
 * warm_up and step_class of each step, the statistics, the groups (in the arena). Replaces what was
 * there; a list of no step gives VP_UNKNOWN, one of which none counts 0 counted. VP_ENOMEM.
 *
 * warm_up: the very first step of >= 5, slow among all that are whole. Percentiles by nearest rank.
 * Groups: what lies apart in the sorted durations. A cut needs a gap of 10 % and of twice what the
 * durations on either side spread (p10 to p90); a group needs 3 members (2 of up to 20 steps), and
 * groups are only named where there are >= 2 of them, of >= 6 steps, that hold 90 % of the steps:
 * noise has no such gaps. The group with the most members is normal. Its period is the distance
 * of its members in the list where that never changes over >= 3 of them. */
int steps_judge(vp_steps *s, vp_arena *arena);
/* (x - median) / (1.4826 MAD), MAD at least 0.1 % of the median, so that a MAD of 0 does not make
 * every jitter an outlier; 0 without a median. */
double steps_robust_z(const vp_steps *s, int64_t dur_ps);
/* A slow outlier (F12): of >= 5 steps that count, above twice the median or with z above 10. */
bool steps_slow(const vp_steps *s, int64_t dur_ps);

#endif
