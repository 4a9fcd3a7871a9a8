#include "trace/report/labels/words.h"

#include "trace/analyze/result/result_words.h"

#include "trace/report/labels/view_words.h"

#define BY_VALUE(value, word) [value] = word,
/* Checks that an array has all values of an enum and a terminating NULL. */
#define ASSERT_ALL(words, last)                                                                    \
    _Static_assert(sizeof(words) / sizeof *(words) == (last) + 2, "each value has its word")

const char *const rep_group_words[] = {REP_GROUP_WORDS(BY_VALUE, BY_VALUE) NULL};
const char *const rep_sort_words[] = {REP_SORT_WORDS(BY_VALUE, BY_VALUE) NULL};
const char *const rep_where_words[] = {REP_WHERE_WORDS(BY_VALUE, BY_VALUE) NULL};
ASSERT_ALL(rep_group_words, VP_GROUP_OUTERMOST);
ASSERT_ALL(rep_sort_words, VP_BY_MAX);
ASSERT_ALL(rep_where_words, VP_WHERE_HOST);

const char *const rep_class_words[] = {
    [VP_COMPUTE] = "compute", [VP_COMMUNICATION] = "communication", [VP_COPY] = "copy", NULL};
ASSERT_ALL(rep_class_words, VP_COPY);
const char *const rep_kind_words[] = {[VP_DEVICE_TPU] = "tpu",
                                      [VP_DEVICE_GPU] = "gpu",
                                      [VP_DEVICE_CPU] = "cpu",
                                      [VP_DEVICE_OTHER] = "other",
                                      NULL};
ASSERT_ALL(rep_kind_words, VP_DEVICE_OTHER);
const char *const rep_severity_words[] = {
    [VP_SEV_INFO] = "info", [VP_SEV_WARNING] = "warning", [VP_SEV_ERROR] = "error", NULL};
ASSERT_ALL(rep_severity_words, VP_SEV_ERROR);
const char *const rep_depth_words[] = {[VP_DEPTH_FULL] = "full", [VP_DEPTH_OPS] = "ops", NULL};
ASSERT_ALL(rep_depth_words, VP_DEPTH_OPS);
const char *const rep_step_source_words[] = {[VP_STEPS_NONE] = "none",
                                             [VP_STEPS_LINE] = "line",
                                             [VP_STEPS_PROFILER] = "profiler_step",
                                             [VP_STEPS_ANNOTATION] = "annotation",
                                             [VP_STEPS_MODULES] = "modules",
                                             [VP_STEPS_REPEATED] = "repeated_annotation",
                                             [VP_STEPS_OPTIMIZER] = "optimizer_step",
                                             [VP_STEPS_NAMED] = "steps_by",
                                             NULL};
ASSERT_ALL(rep_step_source_words, VP_STEPS_NAMED);
const char *const rep_step_class_words[] = {
    [VP_STEP_NORMAL] = "normal", [VP_STEP_HEAVY] = "heavy", [VP_STEP_LIGHT] = "light", NULL};
ASSERT_ALL(rep_step_class_words, VP_STEP_LIGHT);
const char *const rep_direction_words[] = {
    [VP_H2D] = "h2d",       [VP_D2H] = "d2h",          [VP_D2D] = "d2d",
    [VP_P2P] = "p2p",       [VP_INFEED] = "infeed",    [VP_OUTFEED] = "outfeed",
    [VP_MEMSET] = "memset", [VP_OTHER_COPY] = "other", NULL};
ASSERT_ALL(rep_direction_words, VP_DIRECTIONS - 1);
const char *const rep_split_words[] = {[VP_SPLIT_SHAPE] = "shape",
                                       [VP_SPLIT_LAYOUT] = "layout",
                                       [VP_SPLIT_SCOPE] = "scope",
                                       [VP_SPLIT_SOURCE] = "source",
                                       NULL};
ASSERT_ALL(rep_split_words, VP_SPLIT_SOURCE);

const char *const rep_buffer_kind_words[] = {"parameter", "output", "constant",
                                             "temp",      "others", NULL};
ASSERT_ALL(rep_buffer_kind_words, VP_BUFFER_OTHERS);
const char *const rep_peak_words[] = {[VP_PEAK_NONE] = "none",       [VP_PEAK_PLANE] = "profile",
                                      [VP_PEAK_NAME] = "name",       [VP_PEAK_FIGURES] = "figures",
                                      [VP_PEAK_DERIVED] = "derived", [VP_PEAK_CHIP] = "chip",
                                      [VP_PEAK_USER] = "user",       NULL};
ASSERT_ALL(rep_peak_words, VP_PEAK_USER);
const char *const rep_cost_words[] = {[VP_COST_NONE] = "none",
                                      [VP_COST_STAT] = "stat",
                                      [VP_COST_HLO] = "hlo",
                                      [VP_COST_SHAPES] = "shapes",
                                      NULL};
ASSERT_ALL(rep_cost_words, VP_COST_SHAPES);

const char *const rep_status_words[] = {[VP_FIRED] = "fired",
                                        [VP_EXPLAINED] = "explained",
                                        [VP_CLEAR] = "clear",
                                        [VP_NOT_EVALUATED] = "not_evaluated",
                                        NULL};
ASSERT_ALL(rep_status_words, VP_NOT_EVALUATED);
const char *const rep_verdict_words[] = {[VP_REGRESSION] = "regression",
                                         [VP_IMPROVEMENT] = "improvement",
                                         [VP_NOISE] = "noise",
                                         [VP_UNVERIFIED] = "unverified",
                                         NULL};
ASSERT_ALL(rep_verdict_words, VP_UNVERIFIED);

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
    return result_level_words[l];
}

const char *rep_status_name(vp_finding_status s)
{
    return rep_status_words[s];
}

const char *rep_group_name(vp_group g)
{
    return rep_group_words[g];
}

const char *rep_sort_name(vp_sort s)
{
    return rep_sort_words[s];
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
               ? "No device in this profile. Slowest events by self time over its tracks."
               : "Zones of host threads, slowest by self time; device work is not included.";
}

const char *rep_cause_name(vp_cause c)
{
    return result_cause_words[c];
}

const char *rep_cause_text(vp_cause c)
{
    static const char *const texts[VP_CAUSES] = {
        [VP_CAUSE_COMPILE] = "the launching thread was compiling",
        [VP_CAUSE_INPUT] = "the launching thread waited for input",
        [VP_CAUSE_CALLBACK] = "the launching thread was in a host callback",
        [VP_CAUSE_SYNC] = "the launching thread was in a blocking call",
        [VP_CAUSE_TRANSFER] =
            "the launching thread was busy with a copy, or had no event while another thread was",
        [VP_CAUSE_HOST] = "the launching thread was late for another reason",
        [VP_CAUSE_CALL] = "inside the launch call",
        [VP_CAUSE_LATENCY] = "launched, not yet started",
        [VP_CAUSE_PEER] = "the launching thread waited for another busy device",
        [VP_CAUSE_UNKNOWN] = "no host event explains this time",
    };
    return texts[c];
}

const char *rep_direction_text(vp_direction d)
{
    static const char *const texts[VP_DIRECTIONS] = {
        [VP_H2D] = "host → device",   [VP_D2H] = "device → host",    [VP_D2D] = "within a device",
        [VP_P2P] = "device → device", [VP_INFEED] = "infeed",        [VP_OUTFEED] = "outfeed",
        [VP_MEMSET] = "memset",       [VP_OTHER_COPY] = "other copy"};
    return texts[d];
}

const char *rep_step_source_text(vp_step_source s)
{
    static const char *const texts[] = {[VP_STEPS_NONE] = "none",
                                        [VP_STEPS_LINE] = "the profiler's Steps line",
                                        [VP_STEPS_PROFILER] = "ProfilerStep annotations",
                                        [VP_STEPS_ANNOTATION] = "step annotations",
                                        [VP_STEPS_MODULES] = "runs of the longest module",
                                        [VP_STEPS_REPEATED] = "repeated annotations",
                                        [VP_STEPS_OPTIMIZER] = "calls of Optimizer.step",
                                        [VP_STEPS_NAMED] = "annotations chosen with --steps-by"};
    return texts[s];
}

const char *rep_step_class_name(vp_step_class c)
{
    return rep_step_class_words[c];
}

const char *rep_verdict_name(vp_verdict v)
{
    return rep_verdict_words[v];
}
