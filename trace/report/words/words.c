#include "trace/report/words/words.h"

const char *const rep_class_words[] = {"compute", "communication", "copy", NULL};
const char *const rep_kind_words[] = {"tpu", "gpu", "cpu", "other", NULL};
const char *const rep_severity_words[] = {"info", "warning", "error", NULL};
const char *const rep_group_words[] = {"name",   "category", "scope", "source",
                                       "module", "raw",      NULL};
const char *const rep_depth_words[] = {"full", "ops", NULL};
const char *const rep_step_source_words[] = {"none",       "line",    "profiler_step",
                                             "annotation", "modules", NULL};
const char *const rep_step_class_words[] = {"normal", "heavy", "light", NULL};
const char *const rep_direction_words[] = {"h2d",     "d2h",    "d2d",   "p2p", "infeed",
                                           "outfeed", "memset", "other", NULL};
const char *const rep_split_words[] = {"shape", "layout", "scope", "source", NULL};
const char *const rep_cause_words[] = {"compile",  "input",   "callback", "sync",
                                       "transfer", "host",    "call",     "latency",
                                       "peer",     "unknown", NULL};

const char *rep_class_name(vp_op_class c)
{
    return rep_class_words[c];
}

const char *rep_class_css(vp_op_class c)
{
    return c == VP_COMMUNICATION ? "comm" : c == VP_COPY ? "copy" : "comp";
}

const char *rep_severity_name(vp_severity s)
{
    return rep_severity_words[s];
}

const char *rep_level_name(vp_level l)
{
    static const char *const names[] = {"low", "medium", "high"};
    return names[l];
}

const char *rep_status_name(vp_finding_status s)
{
    static const char *const names[] = {"fired", "explained", "clear", "not_evaluated"};
    return names[s];
}

const char *rep_group_name(vp_group g)
{
    return rep_group_words[g];
}

const char *rep_sort_name(vp_sort s)
{
    static const char *const names[] = {"self", "total", "calls", "max"};
    return names[s];
}

const char *rep_self_of(const vp_report *r)
{
    return r->has_devices                ? " op time"
           : r->where == VP_WHERE_DEVICE ? " self time"
                                         : " self time of the process's threads";
}

const char *rep_host_tables(const vp_report *r)
{
    return r->where == VP_WHERE_DEVICE
               ? "No device in this profile: slowest events by self time over its tracks."
               : "Zones of the host's threads, slowest by self time; what devices do is not in "
                 "these tables.";
}

const char *rep_cause_name(vp_cause c)
{
    return rep_cause_words[c];
}

const char *rep_cause_text(vp_cause c)
{
    static const char *const texts[VP_CAUSES] = {
        "the launching thread was compiling",
        "the launching thread waited for input",
        "the launching thread was in a callback from the device",
        "the launching thread was in a blocking call",
        "the launching thread was busy with a copy, or another one while it said nothing",
        "the launching thread was late for another reason",
        "inside the launch call",
        "launched, not yet started",
        "the launching thread waited for another device, which still worked",
        "nothing links this time to the host",
    };
    return texts[c];
}

const char *rep_direction_text(vp_direction d)
{
    static const char *const texts[VP_DIRECTIONS] = {
        "host → device", "device → host", "within a device", "device → device",
        "infeed",        "outfeed",       "memset",          "other copy"};
    return texts[d];
}

const char *rep_step_class_name(vp_step_class c)
{
    return rep_step_class_words[c];
}

const char *rep_verdict_name(vp_verdict v)
{
    static const char *const names[] = {"regression", "improvement", "noise", "unverified"};
    return names[v];
}
