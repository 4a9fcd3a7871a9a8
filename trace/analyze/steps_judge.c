#include "trace/analyze/steps.h"

int steps_judge(vp_steps *s, vp_arena *arena)
{
    (void)arena;
    s->counted = s->median_ps = s->p90_ps = s->p95_ps = s->mad_ps = VP_UNKNOWN;
    s->mean_ps = s->min_ps = s->max_ps = s->excess_ps = VP_UNKNOWN;
    s->cv = 0;
    s->groups = NULL;
    s->group_count = 0;
    return 0;
}
