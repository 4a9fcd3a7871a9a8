/* `top --where host`: a trace in which only the host's own events count. */
#include "trace/analyze/load.h"

void host_zones(trace *t)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        trace_track *k = &t->tracks[i];
        bool host = t->processes[k->process].kind == SINK_PROCESS_HOST;
        if (k->role == SINK_ROLE_OPS || (k->role == SINK_ROLE_PLAIN && !host))
            k->role = SINK_ROLE_DERIVED;
    }
}
