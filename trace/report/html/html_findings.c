/* Findings on the page, as cards: title, message, evidence, fix, places, notes. */
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/labels/memory_words.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

#define PLACES_MAX 8u

static const char *const badges[] = {"low", "warn", "bad"};

bool html_has_findings(const page *p)
{
    return p->r->finding_count > 0;
}

static size_t count_findings_of(const vp_report *r, vp_finding_status status)
{
    size_t n = 0;
    for (size_t i = 0; i < r->finding_count; i++)
        n += r->findings[i].status == status;
    return n;
}

/* ---- Evidence ---- */

static bool is_unit(const char *unit, const char *name)
{
    return vp_str_eq(vp_str_of(unit), vp_str_of(name));
}

/* Length in ps of a unit of time; 0 if `unit` is not one. */
static double time_unit(const char *unit)
{
    static const struct {
        const char *name;
        double ps;
    } units[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (is_unit(unit, units[i].name))
            return units[i].ps;
    return 0;
}

/* Values have the unit that their rule names. */
static void html_put_finding_value(page *p, double v, const char *unit)
{
    double ps = v * time_unit(unit);
    if (ps > 0 && ps < (double)INT64_MAX) {
        html_duration(p, (int64_t)(ps + 0.5), (int64_t)ps);
    } else if (is_unit(unit, "share")) {
        rep_put_number(p->b, v * 100, 2);
        html_puts(p, "%");
    } else if (!unit || is_unit(unit, "ratio")) {
        vp_buf_printf(p->b, "%.3g", v);
    } else {
        vp_buf_printf(p->b, "%.6g ", v);
        html_text(p, unit);
    }
}

/* "threshold 5%": thresholds are round numbers. */
static void put_threshold(page *p, const vp_finding *f)
{
    html_puts(p, "threshold ");
    if (is_unit(f->unit, "share"))
        vp_buf_printf(p->b, "%.6g%%", f->threshold * 100);
    else
        html_put_finding_value(p, f->threshold, f->unit);
}

static void html_put_evidence(page *p, const vp_finding *f)
{
    html_puts(p, "<dl class=\"facts\">\n");
    if (f->metric) {
        html_puts(p, "<div><dt>");
        html_text(p, f->metric);
        html_puts(p, "</dt><dd><b>");
        html_put_finding_value(p, f->value, f->unit);
        html_puts(p, "</b>");
        if (f->denominator) {
            html_puts(p, " of ");
            html_text(p, f->denominator);
        }
        html_puts(p, "<span class=\"sub\">");
        put_threshold(p, f);
        html_puts(p, "</span></dd></div>\n");
    }
    if (f->impact_ps > 0) {
        html_open_fact(p, "Potential saving");
        html_puts(p, f->is_predicted ? "about <b>" : "up to <b>");
        html_duration(p, f->impact_ps, f->impact_ps);
        html_puts(p, "</b>");
        if (f->window_ps > 0) {
            html_puts(p, " (");
            rep_put_percent(p->b, f->impact_ps, f->window_ps);
            html_puts(p, " of the ");
            html_text(p, f->denominator && strstr(f->denominator, "capture") ? f->denominator
                                                                             : "window");
            html_puts(p, ")");
        }
        if (f->gross_ps > f->impact_ps) {
            html_puts(p, "<span class=\"sub\">");
            html_duration(p, f->gross_ps, f->gross_ps);
            html_puts(p, " including time claimed by other findings</span>");
        }
        html_close_fact(p);
    }
    if (f->impact_bytes > 0) {
        html_open_fact(p, "Potential saving");
        html_puts(p, "up to <b>");
        rep_put_bytes(p->b, f->impact_bytes);
        html_puts(p, "</b>");
        html_close_fact(p);
    }
    html_puts(p, "</dl>\n");
}

/* ---- Places ---- */

static void html_put_finding_place(page *p, const vp_place *at)
{
    const vp_report *r = p->r;
    const char *name = at->device < r->device_count ? r->devices[at->device].name : at->host;
    html_puts(p, "<li>");
    if (name)
        html_text(p, name);
    if (at->device < r->device_count && r->host_count > 1) {
        html_puts(p, " on ");
        html_text(p, r->devices[at->device].host);
    }
    if (at->track) {
        html_puts(p, name ? ", " : "");
        html_text(p, at->track);
    }
    if (at->start_ps != VP_NO_TIME && at->end_ps >= at->start_ps) {
        html_puts(p, name || at->track ? " at " : "at ");
        html_place(p, at->device, at->host, at->start_ps, at->end_ps - at->start_ps);
        html_puts(p, " for ");
        html_duration(p, at->end_ps - at->start_ps, at->end_ps - at->start_ps);
    }
    html_puts(p, "</li>\n");
}

static void html_put_finding_places(page *p, const vp_finding *f)
{
    size_t n = f->where_count < PLACES_MAX ? f->where_count : PLACES_MAX;
    if (!n)
        return;
    html_puts(p, "<p class=\"label\">Where</p>\n<ul class=\"places\">\n");
    for (size_t i = 0; i < n; i++)
        html_put_finding_place(p, &f->where[i]);
    if (f->where_count > n)
        vp_buf_printf(p->b, "<li>%zu more</li>\n", f->where_count - n);
    html_puts(p, "</ul>\n");
}

/* ---- Links to sections ---- */

/* Links from a rule without a place in time to its section. */
static void put_about(page *p, const vp_finding *f)
{
    static const struct {
        char first[4], last[4];
        const char *tab, *section, *text;
    } about[] = {{"F22", "F22", "memory", "memory", "Memory over time and its holders"},
                 {"F30", "F32", "memory", "memory", "Memory over time and its holders"},
                 {"F33", "F35", "devices", "mfu", "MFU breakdown"},
                 {"F36", "F40", "memory", "plans", "Planned memory of programs"}};
    for (size_t i = 0; f->id && i < sizeof about / sizeof *about; i++) {
        if (strcmp(f->id, about[i].first) < 0 || strcmp(f->id, about[i].last) > 0)
            continue;
        html_puts(p, "<p><a href=\"");
        if (p->links.tab)
            html_query(p, "tab", about[i].tab);
        vp_buf_printf(p->b, "#%s\">%s</a></p>\n", about[i].section, about[i].text);
    }
}

/* ---- Cards ---- */

static void html_put_text_list(page *p, const char *label, const char *const *texts, size_t n)
{
    if (!n)
        return;
    vp_buf_printf(p->b, "<p class=\"label\">%s</p>\n<ul class=\"caveats\">\n", label);
    for (size_t i = 0; i < n; i++) {
        html_puts(p, "<li>");
        html_text(p, texts[i]);
        html_puts(p, "</li>\n");
    }
    html_puts(p, "</ul>\n");
}

static void html_put_finding_id(page *p, const vp_finding *f)
{
    html_puts(p, "<code>");
    html_text(p, f->id);
    html_puts(p, " ");
    html_text(p, f->name);
    html_puts(p, "</code>");
}

static void put_card(page *p, const vp_finding *f)
{
    vp_buf_printf(p->b, "<li class=\"finding %s\" id=\"finding-", badges[f->severity]);
    html_url(p, f->id ? f->id : "");
    vp_buf_printf(p->b, "\">\n<div class=\"title\"><span class=\"badge %s\">%s</span><h3>",
                  badges[f->severity], rep_level_name(f->severity));
    html_text(p, f->title);
    html_puts(p, "</h3>");
    html_put_finding_id(p, f);
    html_puts(p, "</div>\n<p>");
    html_text(p, f->message);
    html_puts(p, "</p>\n");
    html_put_evidence(p, f);
    if (f->suggestion) {
        html_puts(p, "<p class=\"advice\"><strong>Fix:</strong> ");
        html_text(p, f->suggestion);
        html_puts(p, "</p>\n");
    }
    html_put_finding_places(p, f);
    put_about(p, f);
    html_put_text_list(p, "Note", f->caveats, f->caveat_count);
    html_puts(p, "</li>\n");
}

static void put_cards(page *p)
{
    html_puts(p, "<ol class=\"findings\">\n");
    for (size_t i = 0; i < p->r->finding_count; i++)
        if (p->r->findings[i].status == VP_FIRED)
            put_card(p, &p->r->findings[i]);
    html_puts(p, "</ol>\n");
}

/* ---- The other rules, collapsed ---- */

static void html_put_explained_rule(page *p, const vp_finding *f)
{
    html_puts(p, "<li>");
    html_put_finding_id(p, f);
    html_puts(p, " ");
    html_text(p, f->message ? f->message : f->title);
    html_puts(p, " <span class=\"sub\">Explained by");
    for (size_t i = 0; i < f->explained_count; i++) {
        html_puts(p, i ? ", <a href=\"#finding-" : " <a href=\"#finding-");
        html_url(p, f->explained_by[i]);
        html_puts(p, "\">");
        html_text(p, f->explained_by[i]);
        html_puts(p, "</a>");
    }
    html_puts(p, ".</span>\n");
    html_put_finding_places(p, f);
    html_puts(p, "</li>\n");
}

static void html_put_missing_rule(page *p, const vp_finding *f)
{
    html_puts(p, "<li>");
    html_put_finding_id(p, f);
    html_puts(p, " needs ");
    for (size_t i = 0; i < f->missing_count; i++) {
        html_puts(p, i ? ", " : "");
        html_text(p, f->missing[i]);
    }
    html_puts(p, f->missing_count ? "</li>\n" : "data that this profile lacks</li>\n");
}

static void html_put_clear_rule(page *p, const vp_finding *f)
{
    html_puts(p, "<li>");
    html_put_finding_id(p, f);
    if (f->metric) {
        html_puts(p, " ");
        html_text(p, f->metric);
        html_puts(p, " ");
        html_put_finding_value(p, f->value, f->unit);
        html_puts(p, ", ");
        put_threshold(p, f);
    }
    html_puts(p, "</li>\n");
}

static void html_put_other_rules(page *p, vp_finding_status status, const char *what,
                                 void (*put)(page *, const vp_finding *))
{
    size_t n = count_findings_of(p->r, status);
    if (!n)
        return;
    vp_buf_printf(
        p->b, "<details class=\"fold\"><summary>%zu rule%s %s</summary>\n<ul class=\"rules\">\n", n,
        n == 1 ? "" : "s", what);
    for (size_t i = 0; i < p->r->finding_count; i++)
        if (p->r->findings[i].status == status)
            put(p, &p->r->findings[i]);
    html_puts(p, "</ul>\n</details>\n");
}

int html_findings(page *p)
{
    size_t fired = count_findings_of(p->r, VP_FIRED);
    html_section(p, "findings", "Findings");
    if (fired) {
        html_puts(
            p,
            "<p class=\"note\">Root causes first. Savings don't overlap; \u201cup to\u201d is an "
            "upper bound, \u201cabout\u201d a prediction.</p>\n");
        put_cards(p);
    } else {
        html_puts(p, "<p class=\"note\">No rule fired on this profile.</p>\n");
    }
    html_put_other_rules(p, VP_EXPLAINED, "explained by the findings above",
                         html_put_explained_rule);
    html_put_other_rules(p, VP_NOT_EVALUATED, "not evaluated", html_put_missing_rule);
    html_put_other_rules(p, VP_CLEAR, "clear", html_put_clear_rule);
    html_section_end(p);
    return p->b->status;
}

bool html_has_spared(const page *p)
{
    for (size_t i = 0; p->links.tab && i < p->r->finding_count; i++)
        if (p->r->findings[i].status == VP_FIRED && p->r->findings[i].impact_bytes > 0)
            return true;
    return false;
}

int html_spared(page *p)
{
    vp_report only;
    page of = *p;
    VP_CLEANUP(vp_free_ptr) vp_finding *rows = NULL;
    VP_TRY(rep_memory_findings(&only, &rows, p->r));
    if (!only.finding_count)
        return p->b->status;
    of.r = &only;
    html_section(p, "spared", "Potential memory savings");
    put_cards(&of);
    html_section_end(p);
    return p->b->status;
}
