/* What is said about steps once their windows are known: of one host, and again when the steps of
 * several hosts are joined. Only analyze/ includes this. */
#ifndef VP_ANALYZE_STEPS_H
#define VP_ANALYZE_STEPS_H

#include "include/view_profile.h"
#include "trace/base/arena.h"

/* From the list (by time; number, start, dur, partial) everything else of s but the source:
 * warm_up and step_class of each step, the statistics, the groups (in the arena). Replaces what was
 * there; a list of no step gives VP_UNKNOWN. VP_ENOMEM. */
int steps_judge(vp_steps *s, vp_arena *arena);

#endif
