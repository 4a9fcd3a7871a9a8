#include "server/cli/gates/findings_gate.h"

#include "server/cli/language/exit_codes.h"
#include "trace/analyze/findings/findings.h"
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

/* The next word of "a,b,c" as a new string (vp_free); false after the last. */
static bool next_comma_word(vp_str *in, char **out)
{
    vp_str word = VP_STR_NONE;
    while (in->n && !word.n) {
        (void)vp_take_until(in, ',', in->n, &word);
        word = vp_str_trim(word);
    }
    *out = word.n ? vp_strndup(word.p, word.n) : NULL;
    return word.n && *out;
}

int cli_check_fail_on(const char *words)
{
    vp_str in = vp_str_of(words);
    char *word;
    size_t n = 0;
    for (; next_comma_word(&in, &word); n++) {
        bool known = findings_word_known(word);
        if (!known)
            vp_log(VP_LOG_ERROR,
                   "--fail-on %.60s: must be low, medium, high, or a rule such as F1 or "
                   "device-idle; see view_profile findings --help",
                   word);
        vp_free(word);
        if (!known)
            return CLI_USAGE;
    }
    if (!words || n)
        return CLI_OK;
    vp_log(VP_LOG_ERROR, "--fail-on: empty list; give a severity or a rule");
    return CLI_USAGE;
}

static const vp_finding *first_match(const vp_report *r, const char *word)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].status == VP_FIRED && findings_word_matches(&r->findings[i], word))
            return &r->findings[i];
    return NULL;
}

int cli_fail_on(const vp_report *r, const char *words)
{
    vp_str in = vp_str_of(words);
    char *word;
    while (next_comma_word(&in, &word)) {
        const vp_finding *f = first_match(r, word);
        if (f)
            vp_log(VP_LOG_ERROR, "--fail-on %.60s: found %s %s", word, f->id, f->name);
        vp_free(word);
        if (f)
            return CLI_GATE;
    }
    return CLI_OK;
}
