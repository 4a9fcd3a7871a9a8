#include "server/cli/gates/compare_gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/language/cli_options.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/analyze/findings/findings.h"
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

/* "5", "5%", "2.5%". */
static int parse_percent(double *out, const char *option, const char *text)
{
    char *end;
    *out = (double)NAN;
    if (!text)
        return CLI_OK;
    *out = strtod(text, &end);
    end += strspn(end, " ");
    end += *end == '%';
    if (end != text && !*end && *out >= 0 && *out <= 10000)
        return CLI_OK;
    vp_log(VP_LOG_ERROR, "--%s %.60s: must be a percentage such as 5%%", option, text);
    return CLI_USAGE;
}

static int parse_word(compare_gate *g, const char *word)
{
    if (!strcmp(word, "regression")) {
        g->on_regression = true;
    } else if (!strcmp(word, "unverified")) {
        g->on_unverified = true;
    } else if (findings_word_known(word) && g->findings.n < CLI_LIST_MAX) {
        g->findings.items[g->findings.n++] = word;
    } else {
        vp_log(VP_LOG_ERROR,
               "--fail-on %.60s: must be regression, unverified, low, medium, high, or a rule such "
               "as F1 or device-idle",
               word);
        return CLI_USAGE;
    }
    return CLI_OK;
}

int compare_gate_parse(compare_gate *g, const cli_options *o)
{
    *g = (compare_gate){.allow_unverified = o->allow_unverified};
    int code = parse_percent(&g->median_percent, "max-regression", o->max_regression);
    if (!code)
        code = parse_percent(&g->p90_percent, "max-p90-regression", o->max_p90_regression);
    if (!code)
        code = parse_percent(&g->peak_percent, "fail-on-peak", o->fail_on_peak);
    if (code || !o->fail_on)
        return code;
    g->words = vp_strdup(o->fail_on);
    if (!g->words)
        return cli_fail(vp_no_memory());
    for (char *word = g->words, *next; !code && word; word = next) {
        next = strchr(word, ',');
        if (next)
            *next++ = 0;
        if (*word)
            code = parse_word(g, word);
    }
    return code;
}

bool compare_gate_needs_steps(const compare_gate *g)
{
    return !isnan(g->median_percent) || !isnan(g->p90_percent) || g->on_regression;
}

int compare_gate_unverified(const compare_gate *g, const char *option, const char *why,
                            const char *what_to_do)
{
    if (g->allow_unverified) {
        vp_log(VP_LOG_WARN, "%s: not verified: %s", option, why);
        return CLI_OK;
    }
    vp_log(VP_LOG_ERROR, "%s: not verified: %s; %s, or add --allow-unverified", option, why,
           what_to_do);
    return CLI_UNREADABLE;
}

bool compare_exceeds(const vp_delta *d, double percent, int64_t threshold_ps)
{
    if (isnan(percent) || d->delta_ps == VP_NO_TIME || d->delta_ps <= threshold_ps)
        return false;
    return (double)d->delta_ps * 100 > percent * (double)d->a_ps;
}
