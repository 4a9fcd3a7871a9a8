#include "trace/analyze/steps/step_signs.h"

bool step_is_root(const trace_track *k, size_t event)
{
    int64_t level = trace_attr(k, SINK_ROOT, event);
    return level != SINK_NO_VALUE && level != 0;
}

bool step_is_numbered(const trace *t, const trace_track *k, size_t event)
{
    if (trace_attr(k, SINK_STEP, event) == SINK_NO_VALUE)
        return false;
    vp_str name = trace_str(t, t->kinds[trace_kind_of(k, event)].name);
    return vp_str_find(name, VP_STR("::")) == name.n;
}
