#include "trace/report/data/findings_docs.h"

#include "trace/analyze/findings/findings.h"

/* docs/findings.md, from the table that the code runs. */

static const char *const head =
    "# Findings\n"
    "\n"
    "This page is written by `scripts/docs` from the table of rules in "
    "`trace/analyze/findings/findings_rules.c`; edit that.\n"
    "\n"
    "A finding is one sentence with a number, its denominator, a place in time and an advice. "
    "Every rule sees\nnothing but the report, so that `view_profile findings` gives the same on a "
    "profile and on reports merged from many.\n"
    "\n"
    "## How to read one\n"
    "\n"
    "* **Window**: from the first to the last op of a device. A share of the window is of the "
    "device that the finding names,\n  the worst of those concerned.\n"
    "* **Win** (`impact.time_ps`): the time that would go at best if the cause went, an upper "
    "bound, without what findings\n  above it claim; `impact.gross_ps` is with that.\n"
    "  Of rules about memory (`impact.bytes`): the bytes that could be spared at most; of F22 "
    "those "
    "above the limit.\n"
    "* **Severity**: the win as a share of the window (compile rules: of the capture): high from "
    "10%, medium from 3%, low\n  from 0.5%; below that a rule is clear. Rules without a win in "
    "time say their own below. On a partial profile every\n  severity is one lower.\n"
    "* **Status**: `fired`; `explained` where other findings (`explained_by`) claim the time, so "
    "that this one is their symptom\n  (less than 0.5% of the window is left, or below 3% less "
    "than a tenth of the claim); `not_evaluated` where the profile lacks something "
    "(`missing`); else `clear`.\n"
    "* **Rank**: fired before explained, F23 first, then by severity, win and the order of the "
    "table.\n"
    "\n"
    "## How time is claimed\n"
    "\n"
    "The window of every device is cut into disjoint cells: idle time by cause, exposed copies by "
    "direction, exposed\ncommunication, compute. In the order of this page each rule that fires "
    "takes the time it explains from its cells; later rules\nhave what is left. So a cause stands "
    "before its symptoms, and the wins of all findings on a device never add up to more\nthan its "
    "window. Cells are amounts: where two rules share one, the later one may be credited with less "
    "than the truth, never with more.\n"
    "\n"
    "`--fail-on` of `view_profile findings` takes severities, ids and names: `--fail-on "
    "high,F10,input-bound`.\n"
    "\n"
    "## The rules, in the order of claim\n";

static void md_put_rule_item(vp_buf *b, const char *what, const char *text)
{
    if (text)
        vp_buf_printf(b, "* **%s**: %s\n", what, text);
}

static void put_needs(vp_buf *b, unsigned needs)
{
    const char *need;
    bool any = false;
    for (unsigned i = 0; (need = findings_need(i)); i++) {
        if (!(needs & 1u << i))
            continue;
        vp_buf_printf(b, "%s%s", any ? ", " : "* **Needs**: ", need);
        any = true;
    }
    if (any)
        vp_buf_puts(b, ".\n");
}

static void md_put_rule_evidence(vp_buf *b, const finding_rule *rule)
{
    vp_buf_printf(b, "* **Evidence**: %s", rule->metric);
    if (rule->denominator)
        vp_buf_printf(b, ", as a share of the %s", rule->denominator);
    else
        vp_buf_printf(b, " (%s)", rule->unit);
    vp_buf_printf(b, "; threshold %g.\n", findings_threshold(rule));
}

static void put_rule(vp_buf *b, const finding_rule *rule)
{
    vp_buf_printf(b, "\n### %s %s: %s\n\n%s\n\n", rule->id, rule->name, rule->title, rule->says);
    vp_buf_printf(b, "* **Fires when**: %s.\n", rule->rule);
    md_put_rule_evidence(b, rule);
    vp_buf_printf(b, "* **Threshold from**: %s.\n", rule->source);
    put_needs(b, rule->needs);
    md_put_rule_item(b, rule->advice_pytorch ? "What to do (JAX, XLA)" : "What to do",
                     rule->advice_xla);
    md_put_rule_item(b, "What to do (PyTorch)", rule->advice_pytorch);
    if (rule->advice_pytorch)
        md_put_rule_item(b, "What to do (other programs)",
                         rule->advice_native ? rule->advice_native : rule->advice_xla);
    md_put_rule_item(b, "Caveat", rule->caveat);
}

int rep_findings_docs(vp_buf *b)
{
    vp_buf_puts(b, head);
    for (const finding_rule *rule = findings_rules; rule->id; rule++)
        put_rule(b, rule);
    return b->status;
}
