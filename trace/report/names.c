#include "trace/report/parts.h"

const char *rep_cause_name(vp_cause c)
{
    static const char *const names[VP_CAUSES] = {
        "compile", "input", "callback", "sync", "transfer", "host", "call", "latency", "unknown"};
    return names[c];
}

const char *rep_cause_text(vp_cause c)
{
    static const char *const texts[VP_CAUSES] = {
        "the launching thread was compiling",
        "the launching thread waited for input",
        "the launching thread was in a callback from the device",
        "the launching thread was in a blocking call",
        "the launching thread was busy with a copy",
        "the launching thread was late for another reason",
        "inside the launch call",
        "launched, not yet started",
        "nothing links this time to the host",
    };
    return texts[c];
}

const char *rep_direction_name(vp_direction d)
{
    static const char *const names[VP_DIRECTIONS] = {"h2d",    "d2h",     "d2d",    "p2p",
                                                     "infeed", "outfeed", "memset", "other"};
    return names[d];
}

const char *rep_direction_text(vp_direction d)
{
    static const char *const texts[VP_DIRECTIONS] = {
        "host → device", "device → host", "within a device", "device → device",
        "infeed",        "outfeed",       "memset",          "other copy"};
    return texts[d];
}

const char *rep_step_source_name(vp_step_source s)
{
    static const char *const names[] = {"none", "line", "profiler_step", "annotation", "modules"};
    return names[s];
}

const char *rep_step_class_name(vp_step_class c)
{
    static const char *const names[] = {"normal", "heavy", "light"};
    return names[c];
}
