/* A comparison for CI: Markdown for the summary of a job, JUnit XML for the list of its tests. */
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/report/compare/compare_formats.h"
#include "trace/report/compare/compare_tables.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/labels/escape.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

#define ROWS_MAX 15u
#define IDLE_MAX 5u
#define SCOPES_MAX 3u /* of a peak */

void rep_md_code(vp_buf *b, const char *z)
{
    vp_buf escaped;
    vp_buf_init(&escaped, 1u << 20);
    vp_put_escaped(&escaped, vp_str_of(z ? z : "-"));
    vp_buf_putc(b, '`');
    for (size_t i = 0; i < escaped.n; i++)
        vp_buf_putc(b, escaped.p[i] == '|' ? '/' : escaped.p[i] == '`' ? '\'' : escaped.p[i]);
    vp_buf_putc(b, '`');
    vp_buf_free_piece(b, &escaped);
}

/* Text that may contain names from a file, without markup. */
static void md_put_plain(vp_buf *b, const char *z)
{
    vp_buf escaped;
    vp_buf_init(&escaped, 1u << 20);
    vp_put_escaped(&escaped, vp_str_of(z ? z : "-"));
    for (size_t i = 0; i < escaped.n; i++) {
        if (strchr("\\`*_[]<>|#&~$", escaped.p[i]))
            vp_buf_putc(b, '\\');
        vp_buf_putc(b, escaped.p[i]);
    }
    vp_buf_free_piece(b, &escaped);
}

void rep_md_delta(vp_buf *b, const char *name, bool code, const vp_delta *d, vp_unit unit,
                  const char *why)
{
    vp_buf_puts(b, "| ");
    if (code)
        rep_md_code(b, name);
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
    if (why) {
        vp_buf_puts(b, " | ");
        md_put_plain(b, why);
    }
    vp_buf_puts(b, " |\n");
}

void rep_md_heads(vp_buf *b, const char *what, vp_unit unit, bool why)
{
    const char *name = rep_unit_name(unit);
    vp_buf_printf(b, "\n| %s | A %s | B %s | B-A %s | change |%s\n|---|---:|---:|---:|---:|%s\n",
                  what, name, name, name, why ? " why |" : "", why ? "---|" : "");
}

static void md_put_times(vp_buf *b, const vp_comparison *c, vp_unit asked)
{
    size_t worst = rep_compare_worst(c);
    vp_unit unit = rep_unit_for(asked, c->step.a_ps > c->step.b_ps ? c->step.a_ps : c->step.b_ps);
    rep_md_heads(b, c->per_step ? "step" : "window", unit, false);
    if (c->per_step) {
        rep_md_delta(b, "median", false, &c->median, unit, NULL);
        rep_md_delta(b, "p90", false, &c->p90, unit, NULL);
    }
    rep_md_delta(b, c->per_step ? "mean" : "longest", false, &c->step, unit, NULL);
    if (worst == c->device_count)
        return;
    const vp_delta *parts[REP_PARTS];
    rep_compare_parts(parts, &c->devices[worst]);
    for (size_t i = 0; i < REP_PARTS; i++)
        rep_md_delta(b, rep_part_names[i], false, parts[i], unit, NULL);
    vp_buf_puts(b, "\n"
                   "The four parts are of ");
    rep_md_code(b, c->devices[worst].name);
    vp_buf_printf(b, " and sum to its %s.\n", c->per_step ? "step" : "window");
}

static void md_put_ops(vp_buf *b, const vp_comparison *c, vp_unit asked)
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
    rep_md_heads(b, "op", rep_unit_for(asked, scale), true);
    for (size_t i = 0; i < c->op_count && shown < ROWS_MAX; i++) {
        if (!rep_moved(c, &c->ops[i]))
            continue;
        rep_md_delta(b, c->ops[i].name, true, &c->ops[i].self, rep_unit_for(asked, scale),
                     c->ops[i].reason ? c->ops[i].reason : "-");
        shown++;
    }
    if (moved > shown)
        vp_buf_printf(b,
                      "\n"
                      "%zu more op%s changed.\n",
                      moved - shown, moved - shown > 1 ? "s" : "");
}

static const char *scope_news(const vp_delta *d)
{
    return d->a_ps && d->b_ps ? "" : d->a_ps ? "gone" : "new";
}

/* Scopes and host activity come before ops, because they are from the program's own code. */
static void md_put_scopes(vp_buf *b, const vp_comparison *c, vp_unit asked)
{
    vp_unit unit = rep_unit_for(asked, c->step.a_ps > c->step.b_ps ? c->step.a_ps : c->step.b_ps);
    for (size_t i = 0; i < c->scope_count && i < ROWS_MAX; i++) {
        if (!i)
            rep_md_heads(b, "scope", unit, true);
        rep_md_delta(b, c->scopes[i].path, true, &c->scopes[i].total, unit,
                     scope_news(&c->scopes[i].total));
    }
}

static void md_put_idle(vp_buf *b, const vp_comparison *c, vp_unit asked)
{
    vp_unit unit = rep_unit_for(asked, c->step.a_ps > c->step.b_ps ? c->step.a_ps : c->step.b_ps);
    for (size_t i = 0; i < c->idle_count && i < IDLE_MAX; i++) {
        vp_buf name;
        if (!i)
            rep_md_heads(b, "idle while the host is in", unit, true);
        vp_buf_init(&name, 1u << 16);
        rep_put_idle_name(&name, &c->idle[i]);
        rep_md_delta(b, vp_buf_cstr(&name), true, &c->idle[i].total, unit,
                     rep_cause_name(c->idle[i].cause));
        vp_buf_free_piece(b, &name);
    }
}

static void md_put_lines(vp_buf *b, const vp_comparison *c)
{
    vp_buf line;
    if (c->cause) {
        vp_buf_puts(b, "\nMain change: ");
        md_put_plain(b, c->cause);
        vp_buf_putc(b, '\n');
    }
    if (!c->per_step)
        return;
    vp_buf_init(&line, 1u << 16);
    rep_put_noise(&line, c);
    vp_buf_puts(b, "\n");
    md_put_plain(b, vp_buf_cstr(&line));
    vp_buf_puts(b, "\n");
    vp_buf_free_piece(b, &line);
}

static void put_memory_row(vp_buf *b, const char *below, const char *name, int64_t a_bytes,
                           int64_t b_bytes)
{
    vp_buf_printf(b, "| %s", below);
    rep_md_code(b, name);
    vp_buf_puts(b, " | ");
    rep_put_bytes(b, a_bytes);
    vp_buf_puts(b, " | ");
    rep_put_bytes(b, b_bytes);
    vp_buf_puts(b, " | ");
    rep_put_more_bytes(b, b_bytes - a_bytes);
    vp_buf_puts(b, " |\n");
}

/* Peaks that differ, and the scopes with the largest differences. */
static void md_put_memory(vp_buf *b, const vp_comparison *c)
{
    size_t shown = 0;
    for (size_t i = 0; i < c->memory_count && shown < ROWS_MAX; i++) {
        const vp_compared_memory *m = &c->memory[i];
        vp_buf name;
        if (!m->delta_bytes || m->delta_bytes == VP_NO_TIME)
            continue;
        if (!shown++)
            vp_buf_puts(b, "\n"
                           "| peak memory | A | B | B-A |\n"
                           "|---|---:|---:|---:|\n");
        vp_buf_init(&name, 1u << 16);
        rep_compared_memory_name(&name, m);
        put_memory_row(b, "", vp_buf_cstr(&name), m->a_bytes, m->b_bytes);
        vp_buf_free_piece(b, &name);
        for (size_t k = 0; k < m->scope_count && k < SCOPES_MAX; k++)
            if (m->scopes[k].delta_bytes)
                put_memory_row(b, "&nbsp;&nbsp;",
                               m->scopes[k].scope ? m->scopes[k].scope : "(no scope)",
                               m->scopes[k].a_bytes, m->scopes[k].b_bytes);
    }
}

static void md_put_finding_ids(vp_buf *b, const char *what, const char *const *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vp_buf_printf(b, "%s%s", i ? ", " : what, ids[i]);
    vp_buf_puts(b, n ? "\n" : "");
}

void rep_md_verdict(vp_buf *b, vp_verdict verdict, const char *reason, const char *a, const char *c)
{
    static const char *const titles[] = {"Regression", "Improvement", "Noise", "Unverified"};
    vp_buf_printf(b, "### %s: ", titles[verdict]);
    md_put_plain(b, reason);
    vp_buf_puts(b, "\n\nA ");
    rep_md_code(b, a);
    vp_buf_puts(b, ", B ");
    rep_md_code(b, c);
    vp_buf_putc(b, '\n');
}

int rep_compare_md(vp_buf *b, const vp_comparison *c, const vp_view *view)
{
    vp_view v = rep_view(view);
    rep_md_verdict(b, c->verdict, c->verdict_reason, c->a_name, c->b_name);
    md_put_lines(b, c);
    md_put_times(b, c, v.unit);
    md_put_scopes(b, c, v.unit);
    md_put_idle(b, c, v.unit);
    md_put_ops(b, c, v.unit);
    md_put_memory(b, c);
    md_put_finding_ids(b, "\nFindings only in B: ", c->findings_new, c->new_count);
    md_put_finding_ids(b, "\nFindings only in A: ", c->findings_gone, c->gone_count);
    for (size_t i = 0; i < c->caveat_count; i++) {
        vp_buf_puts(b, i ? "- " : "\n- ");
        md_put_plain(b, c->caveats[i]);
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

void rep_junit_begin(vp_buf *b, size_t tests, size_t failures, size_t skipped, int64_t ps)
{
    vp_buf_printf(b,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                  "  <testsuite name=\"view_profile compare\" tests=\"%zu\" failures=\"%zu\" "
                  "errors=\"0\" skipped=\"%zu\" time=\"",
                  tests, failures, skipped);
    put_seconds(b, ps);
    vp_buf_puts(b, "\">\n");
}

void rep_junit_case(vp_buf *b, const char *name, int64_t ps, const char *what, const char *why)
{
    vp_buf_puts(b, "    <testcase classname=\"view_profile.compare\" name=\"");
    rep_html_escape(b, vp_str_of(name));
    vp_buf_puts(b, "\" time=\"");
    put_seconds(b, ps);
    vp_buf_puts(b, "\">");
    if (!what)
        return;
    vp_buf_printf(b, "<%s message=\"", what);
    rep_html_escape(b, vp_str_of(why));
    vp_buf_puts(b, "\"/>");
}

int rep_junit_end(vp_buf *b, int rc, vp_str text)
{
    vp_str line;
    vp_buf_puts(b, "<system-out>");
    while (rc >= 0 && text.n) {
        (void)vp_take_until(&text, '\n', text.n, &line);
        rep_html_escape(b, line);
        vp_buf_putc(b, '\n');
    }
    vp_buf_puts(b, "</system-out></testcase>\n  </testsuite>\n</testsuites>\n");
    return rc < 0 ? rc : b->status;
}

/* One test: failed if a gate failed, skipped if nothing could be verified. */
int rep_compare_junit(vp_buf *b, const vp_comparison *c, bool failed)
{
    bool skipped = !failed && c->verdict == VP_UNVERIFIED;
    vp_buf text;
    vp_buf_init(&text, 16u << 20);
    VP_CLEANUP(vp_buf_free) vp_buf why;
    vp_buf_init(&why, 1u << 16);
    vp_buf_printf(&why, "%s%s%s", c->verdict_reason, c->cause ? "; main change: " : "",
                  c->cause ? c->cause : "");
    int rc = why.status;
    if (rc >= 0)
        rc = rep_compare_text(&text, c, &(vp_view){.version = 1, .top = 20, .width = 100});
    rep_junit_begin(b, 1, failed, skipped, c->step.b_ps);
    rep_junit_case(b, c->b_name ? c->b_name : "step", c->step.b_ps,
                   failed    ? "failure"
                   : skipped ? "skipped"
                             : NULL,
                   vp_buf_cstr(&why));
    rc = rep_junit_end(b, rc, vp_buf_view(&text));
    vp_buf_free(&text);
    return rc;
}
