#include "trace/report/data/findings_docs.h"

#include <string.h>

#include "trace/analyze/findings/findings.h"
#include "trace/base/limits.h"
#include "trace/base/str.h"

/* docs/findings.md, generated from the table of rules. */

#define LINE_WIDTH 100u

static const char *const head =
    "# Findings\n"
    "\n"
    "`scripts/docs` generates this page from the table of rules in\n"
    "`trace/analyze/findings/findings_rules.c`; edit that file.\n"
    "\n"
    "A finding is one sentence with a number, its denominator, a place in time and advice.\n"
    "Rules read only the report. So `view_profile findings` gives the same result for a profile\n"
    "and for reports merged from several profiles.\n"
    "\n"
    "## How to read a finding\n"
    "\n"
    "* **Window**: from the first to the last op of a device. A share of the window refers to the\n"
    "  device that the finding names, which is the worst one affected.\n"
    "* **Potential saving** (`impact.time_ps`): the time saved at most if the cause is removed,\n"
    "  without the time claimed by findings above it. `impact.gross_ps` includes that time.\n"
    "  If `impact.kind` is `predicted`, the saving is that of a\n"
    "  [replay](reference/links.md#replay), and the finding states its error.\n"
    "  Memory rules have `impact.bytes`: the bytes saved at most; for F22, the bytes above the "
    "limit.\n"
    "* **Severity**: the saving as a share of the window (compile rules: of the capture). High\n"
    "  from 10%, medium from 3%, low from 0.5%; below that, the rule is clear. Rules without a\n"
    "  saving in time state their own levels. In an incomplete profile, every severity is one\n"
    "  level lower.\n"
    "* **Status**: one of\n"
    "    * `fired`;\n"
    "    * `explained`: other findings (`explained_by`) claim the time, so this one is their\n"
    "      symptom. Less than 0.5% of the window is left, or less than 3% of the window and less\n"
    "      than a tenth of the claim;\n"
    "    * `not_evaluated`: the profile lacks data that the rule needs (`missing`);\n"
    "    * `clear`: none of these.\n"
    "* **Rank**: fired before explained, F23 first, then by severity, saving and the order of\n"
    "  this page. Above low, rules about variation (F12, F13, F18, F28, F29) come after those\n"
    "  that name a cause. The rule about startup (F11) comes after others of its severity.\n"
    "\n"
    "## How time is claimed\n"
    "\n"
    "The window of every device is divided into disjoint cells: idle time by cause, exposed "
    "copies\n"
    "by direction, exposed communication, and compute. In the order of this page, each rule that\n"
    "fires takes the time it explains from its cells. Later rules get only what is left. So root\n"
    "causes come before symptoms, and the savings of all findings on a device never add up to "
    "more\n"
    "than its window. Cells are amounts of time: if two rules share one, the later rule may get\n"
    "less than it should, never more.\n"
    "\n"
    "`--fail-on` of `view_profile findings` takes severities, ids and names:\n"
    "`--fail-on high,F10,input-bound`.\n"
    "\n"
    "## Rules, in the order of claims\n";

/* Width of UTF-8 text in characters. */
static size_t char_count(vp_str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

/* Appends the words of `text` in lines of at most LINE_WIDTH characters, continued with `indent`
 * spaces. The first line already holds `column` characters. */
static void md_put_wrapped(vp_buf *b, size_t column, size_t indent, const char *text)
{
    bool first = true;
    while (*text) {
        vp_str word = {text, strcspn(text, " ")};
        size_t width = char_count(word);
        if (!first && column + 1 + width > LINE_WIDTH) {
            vp_buf_putc(b, '\n');
            vp_buf_pad(b, ' ', indent);
            column = indent;
        } else if (!first) {
            vp_buf_putc(b, ' ');
            column++;
        }
        vp_buf_put(b, word.p, word.n);
        column += width;
        text += word.n;
        text += *text == ' ';
        first = false;
    }
}

/* Appends the content of `line` as a wrapped list item or paragraph, and frees `line`. */
static void md_put_line(vp_buf *b, vp_buf *line, size_t indent)
{
    md_put_wrapped(b, 0, indent, vp_buf_cstr(line));
    vp_buf_putc(b, '\n');
    vp_buf_free_piece(b, line);
}

static void md_put_rule_item(vp_buf *b, const char *label, const char *text, const char *end)
{
    vp_buf line;
    if (!text)
        return;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_printf(&line, "* **%s**: %s%s", label, text, end);
    md_put_line(b, &line, 2);
}

static void put_needs(vp_buf *b, unsigned needs)
{
    const char *need;
    bool any = false;
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    for (unsigned i = 0; (need = findings_need(i)); i++) {
        if (!(needs & 1u << i))
            continue;
        vp_buf_printf(&line, "%s%s", any ? ", " : "* **Needs**: ", need);
        any = true;
    }
    vp_buf_puts(&line, ".");
    if (any)
        md_put_line(b, &line, 2);
    else
        vp_buf_free(&line);
}

static void md_put_rule_evidence(vp_buf *b, const finding_rule *rule)
{
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_printf(&line, "* **Evidence**: %s", rule->metric);
    if (rule->denominator)
        vp_buf_printf(&line, ", as a share of the %s", rule->denominator);
    else
        vp_buf_printf(&line, " (%s)", rule->unit);
    vp_buf_printf(&line, "; threshold %g.", findings_threshold(rule));
    md_put_line(b, &line, 2);
}

static void put_rule(vp_buf *b, const finding_rule *rule)
{
    vp_buf_printf(b, "\n### %s %s: %s\n\n", rule->id, rule->name, rule->title);
    md_put_wrapped(b, 0, 0, rule->says);
    vp_buf_puts(b, "\n\n");
    md_put_rule_item(b, "Fires if", rule->rule, ".");
    md_put_rule_evidence(b, rule);
    md_put_rule_item(b, "Source of the threshold", rule->source, ".");
    put_needs(b, rule->needs);
    md_put_rule_item(b, rule->advice_pytorch ? "Fix (JAX, XLA)" : "Fix", rule->advice_xla, "");
    md_put_rule_item(b, "Fix (PyTorch)", rule->advice_pytorch, "");
    if (rule->advice_pytorch)
        md_put_rule_item(b, "Fix (other programs)",
                         rule->advice_native ? rule->advice_native : rule->advice_xla, "");
    md_put_rule_item(b, "Fix (TensorFlow)", rule->advice_tensorflow, "");
    md_put_rule_item(b, "Fix (only CPUs compute)", rule->advice_cpu, "");
    md_put_rule_item(b, "Note", rule->caveat, "");
}

int rep_findings_docs(vp_buf *b)
{
    vp_buf_puts(b, head);
    for (const finding_rule *rule = findings_rules; rule->id; rule++)
        put_rule(b, rule);
    return b->status;
}
