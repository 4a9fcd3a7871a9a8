#include "trace/base/log.h"
#include "trace/report/compare.h"

/* A comparison for CI: Markdown for the summary of a job, JUnit XML for the list of its tests. */

#define ROWS_MAX 15u

/* A cell of a table, in a code span; the characters that end either are replaced. */
static void put_cell(vp_buf *b, const char *z)
{
    vp_buf escaped;
    vp_buf_init(&escaped, 1u << 20);
    vp_put_escaped(&escaped, vp_str_of(z ? z : "-"));
    vp_buf_putc(b, '`');
    for (size_t i = 0; i < escaped.n; i++)
        vp_buf_putc(b, escaped.p[i] == '|' ? '/' : escaped.p[i] == '`' ? '\'' : escaped.p[i]);
    vp_buf_putc(b, '`');
    if (escaped.status < 0 && b->status >= 0)
        b->status = escaped.status;
    vp_buf_free(&escaped);
}

/* why: the last cell, or NULL in a table without. */
static void put_row(vp_buf *b, const char *name, bool code, const vp_delta *d, vp_unit unit,
                    const char *why)
{
    vp_buf_puts(b, "| ");
    if (code)
        put_cell(b, name);
    else
        vp_buf_puts(b, name);
    vp_buf_puts(b, " | ");
    rep_put_ps(b, d->a_ps, unit);
    vp_buf_puts(b, " | ");
    rep_put_ps(b, d->b_ps, unit);
    vp_buf_puts(b, " | ");
    rep_put_delta(b, d, unit);
    vp_buf_puts(b, " | ");
    rep_put_change(b, d);
    if (why)
        vp_buf_printf(b, " | %s", why);
    vp_buf_puts(b, " |\n");
}

static void put_heads(vp_buf *b, const char *what, vp_unit unit, bool why)
{
    const char *name = rep_unit_name(unit);
    vp_buf_printf(b, "\n| %s | A %s | B %s | B-A %s | change |%s\n|---|---:|---:|---:|---:|%s\n",
                  what, name, name, name, why ? " why |" : "", why ? "---|" : "");
}

static void put_times(vp_buf *b, const vp_comparison *c, vp_unit asked)
{
    size_t worst = rep_compare_worst(c);
    vp_unit unit = rep_unit_for(asked, c->step.a_ps > c->step.b_ps ? c->step.a_ps : c->step.b_ps);
    put_heads(b, c->per_step ? "a step" : "the window", unit, false);
    if (c->per_step) {
        put_row(b, "median", false, &c->median, unit, NULL);
        put_row(b, "p90", false, &c->p90, unit, NULL);
    }
    put_row(b, c->per_step ? "mean" : "longest", false, &c->step, unit, NULL);
    if (worst == c->device_count)
        return;
    const vp_delta *parts[REP_PARTS];
    rep_compare_parts(parts, &c->devices[worst]);
    for (size_t i = 0; i < REP_PARTS; i++)
        put_row(b, rep_part_names[i], false, parts[i], unit, NULL);
    vp_buf_puts(b, "\nThe four classes are those of ");
    put_cell(b, c->devices[worst].name);
    vp_buf_printf(b, " and sum to its %s.\n", c->per_step ? "step" : "window");
}

static void put_ops(vp_buf *b, const vp_comparison *c, vp_unit asked)
{
    size_t shown = 0, moved = 0;
    int64_t scale = 0;
    for (size_t i = 0; i < c->op_count; i++) {
        moved += rep_moved(c, &c->ops[i]);
        if (rep_moved(c, &c->ops[i]) && rep_delta_size(&c->ops[i].self) > scale)
            scale = rep_delta_size(&c->ops[i].self);
    }
    if (!moved) {
        vp_buf_puts(b, "\nNo op differs by more than the noise.\n");
        return;
    }
    put_heads(b, "op", rep_unit_for(asked, scale), true);
    for (size_t i = 0; i < c->op_count && shown < ROWS_MAX; i++) {
        if (!rep_moved(c, &c->ops[i]))
            continue;
        put_row(b, c->ops[i].name, true, &c->ops[i].self, rep_unit_for(asked, scale),
                c->ops[i].reason ? c->ops[i].reason : "-");
        shown++;
    }
    if (moved > shown)
        vp_buf_printf(b, "\n%zu more op%s moved.\n", moved - shown, moved - shown > 1 ? "s" : "");
}

static void put_ids(vp_buf *b, const char *what, const char *const *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vp_buf_printf(b, "%s%s", i ? ", " : what, ids[i]);
    vp_buf_puts(b, n ? "\n" : "");
}

int rep_compare_md(vp_buf *b, const vp_comparison *c, const vp_view *view)
{
    static const char *const titles[] = {"Regression", "Improvement", "Noise", "Unverified"};
    vp_view v = rep_view(view);
    vp_buf_printf(b, "### %s: %s\n\nA ", titles[c->verdict], c->verdict_reason);
    put_cell(b, c->a_name);
    vp_buf_puts(b, ", B ");
    put_cell(b, c->b_name);
    vp_buf_putc(b, '\n');
    put_times(b, c, v.unit);
    put_ops(b, c, v.unit);
    put_ids(b, "\nFindings only in B: ", c->findings_new, c->new_count);
    put_ids(b, "\nFindings only in A: ", c->findings_gone, c->gone_count);
    for (size_t i = 0; i < c->caveat_count; i++) {
        vp_buf_puts(b, i ? "- " : "\n- ");
        vp_put_escaped(b, vp_str_of(c->caveats[i]));
        vp_buf_putc(b, '\n');
    }
    return b->status;
}

/* ---- JUnit ---- */

/* Seconds with the precision that readers of JUnit files expect. */
static void put_seconds(vp_buf *b, int64_t ps)
{
    int64_t us = ps > 0 ? ps / 1000000 : 0;
    vp_buf_printf(b, "%lld.%06lld", (long long)(us / 1000000), (long long)(us % 1000000));
}

static void open_case(vp_buf *b, const char *name, int64_t ps)
{
    vp_buf_puts(b, "    <testcase classname=\"view_profile.compare\" name=\"");
    rep_html_escape(b, vp_str_of(name));
    vp_buf_puts(b, "\" time=\"");
    put_seconds(b, ps);
    vp_buf_puts(b, "\">");
}

static void put_failure(vp_buf *b, const char *what, const char *message)
{
    vp_buf_printf(b, "<%s message=\"", what);
    rep_html_escape(b, vp_str_of(message));
    vp_buf_puts(b, "\"/>");
}

/* Escaped line by line: the line feeds stay. */
static int put_text(vp_buf *b, const vp_comparison *c)
{
    vp_buf text;
    vp_buf_init(&text, 16u << 20);
    int rc = rep_compare_text(&text, c, &(vp_view){.version = 1, .top = 20, .width = 100});
    vp_str rest = vp_buf_view(&text), line;
    while (rc >= 0 && rest.n) {
        (void)vp_take_until(&rest, '\n', rest.n, &line);
        rep_html_escape(b, line);
        vp_buf_putc(b, '\n');
    }
    vp_buf_free(&text);
    return rc;
}

/* One test: failed when a gate failed, skipped when nothing could be verified; the text goes along.
 */
int rep_compare_junit(vp_buf *b, const vp_comparison *c, bool failed)
{
    bool skipped = !failed && c->verdict == VP_UNVERIFIED;
    vp_buf_printf(b,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                  "  <testsuite name=\"view_profile compare\" tests=\"1\" failures=\"%d\" "
                  "errors=\"0\" skipped=\"%d\" time=\"",
                  failed, skipped);
    put_seconds(b, c->step.b_ps);
    vp_buf_puts(b, "\">\n");
    open_case(b, c->b_name ? c->b_name : "step", c->step.b_ps);
    if (failed)
        put_failure(b, "failure", c->verdict_reason);
    else if (skipped)
        put_failure(b, "skipped", c->verdict_reason);
    vp_buf_puts(b, "<system-out>");
    int rc = put_text(b, c);
    vp_buf_puts(b, "</system-out></testcase>\n  </testsuite>\n</testsuites>\n");
    return rc < 0 ? rc : b->status;
}
