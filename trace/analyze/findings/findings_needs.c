/* The names of a rule's requirements, and the threshold of its evidence. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

#define WORDS(name, words) words,
static const char *const needs[] = {FND_NEEDS(WORDS)};

const char *findings_need(unsigned bit)
{
    return bit < FND_NEED_COUNT ? needs[bit] : NULL;
}

double findings_threshold(const finding_rule *rule)
{
    size_t i = 0;
    while (i + 1 < FND_LIMITS && !rule->limits[i])
        i++;
    /* from permille; from us to ms */
    return rule->limits[i] / (strcmp(rule->unit, "us") ? 1000. : 1.);
}

bool fnd_has_causes(const vp_report *r)
{
    int64_t known = 0, idle = 0;
    for (size_t d = 0; d < r->device_count; d++) {
        known += fnd_sum(r->devices[d].cause_ps, 0, VP_CAUSE_UNKNOWN);
        idle += r->devices[d].breakdown.idle_ps;
    }
    return known || !idle;
}
