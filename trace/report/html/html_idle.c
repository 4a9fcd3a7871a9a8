/* Why devices idle on the page: causes, gaps, labels. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/words.h"

#define GAPS_MAX 30u
#define LABELS_MAX 30u
/* Behind the first few, gaps below this part of the longest one say nothing, nor do labels
 * below this part of the first one: thousands of them are the rule. */
#define GAPS_ALWAYS 5u
#define SMALL_PART 200

static bool has_causes(const vp_device *d)
{
    for (size_t i = 0; i < VP_CAUSES; i++)
        if (d->cause_ps[i] > 0)
            return true;
    return false;
}

static bool any_causes(const page *p)
{
    for (size_t i = 0; i < p->r->device_count; i++)
        if (has_causes(&p->r->devices[i]) && html_shows(p, (uint32_t)i))
            return true;
    return false;
}

bool html_has_idle(const page *p)
{
    return p->r->gap_count || p->r->idle_label_count || any_causes(p);
}

/* ---- By cause ---- */

static void cause_row(page *p, size_t device, const bool *used, vp_unit unit)
{
    const vp_device *d = &p->r->devices[device];
    html_puts(p, "<tr>");
    html_name_cell(p, d->name, p->r->host_count > 1 ? d->host : NULL);
    html_ps_cell(p, d->breakdown.idle_ps, unit);
    html_bar_cell(p, "idle", d->breakdown.idle_ps, d->breakdown.window_ps, d->breakdown.window_ps);
    html_count_cell(p, d->gap_count);
    for (size_t i = 0; i < VP_CAUSES; i++)
        if (used[i])
            html_percent_cell(p, d->cause_ps[i], d->breakdown.idle_ps);
    html_puts(p, "</tr>\n");
}

static void put_causes(page *p)
{
    const vp_report *r = p->r;
    bool used[VP_CAUSES] = {false};
    int64_t scale = 0;
    if (!any_causes(p))
        return;
    for (size_t i = 0; i < r->device_count; i++) {
        scale = r->devices[i].breakdown.idle_ps > scale ? r->devices[i].breakdown.idle_ps : scale;
        for (size_t c = 0; c < VP_CAUSES; c++)
            used[c] |= r->devices[i].cause_ps[c] > 0;
    }
    vp_unit unit = rep_unit_for(p->v.unit, scale);
    html_puts(p, "<div class=\"what\"><h3>Why each device idles</h3> <span>shares of its idle "
                 "time</span></div>\n");
    html_table(p, "list", "Why each device idles");
    html_head(p, "op", "Device", NULL, NULL);
    html_head(p, "", "Idle", rep_unit_sign(unit), NULL);
    html_head(p, "share", "Idle", "% of window", NULL);
    html_head(p, "", "Gaps", NULL, NULL);
    for (size_t c = 0; c < VP_CAUSES; c++)
        if (used[c])
            html_head(p, "", rep_cause_name((vp_cause)c), NULL, rep_cause_text((vp_cause)c));
    html_rows(p);
    for (size_t i = 0; i < r->device_count; i++)
        if (html_shows(p, (uint32_t)i))
            cause_row(p, i, used, unit);
    html_table_end(p, 0);
}

/* ---- Gaps ---- */

static vp_cause main_cause(const vp_gap *g)
{
    vp_cause best = VP_CAUSE_UNKNOWN;
    for (int i = 0; i < VP_CAUSES; i++)
        if (g->cause_ps[i] > g->cause_ps[best])
            best = (vp_cause)i;
    return best;
}

static void cause_cell(page *p, const vp_gap *g)
{
    vp_cause cause = main_cause(g);
    vp_buf_printf(p->b, "<td class=\"text\" title=\"%s\">%s", rep_cause_text(cause),
                  rep_cause_name(cause));
    if (g->cause_ps[cause] < g->dur_ps && g->cause_ps[cause] > 0) {
        html_puts(p, " <span class=\"soft\">");
        rep_put_percent(p->b, g->cause_ps[cause], g->dur_ps);
        html_puts(p, "</span>");
    }
    html_puts(p, "</td>");
}

static void gap_row(page *p, const vp_gap *g, vp_unit unit)
{
    const vp_report *r = p->r;
    int64_t idle = g->device < r->device_count ? r->devices[g->device].breakdown.idle_ps : 0;
    html_puts(p, "<tr>");
    html_place_cell(p, g->device, NULL, g->start_ps, g->dur_ps);
    if (r->device_count > 1)
        html_device_cell(p, g->device);
    html_ps_cell(p, g->dur_ps, unit);
    html_percent_cell(p, g->dur_ps, idle);
    cause_cell(p, g);
    html_text_cell(p, g->label);
    html_text_cell(p, g->thread);
    html_text_cell(p, g->next_op);
    html_text_cell(p, g->scope);
    html_puts(p, "</tr>\n");
}

static void put_gaps(page *p)
{
    const vp_report *r = p->r;
    size_t shown = 0, matching = 0;
    int64_t scale = 0;
    for (size_t i = 0; i < r->gap_count; i++)
        scale = r->gaps[i].dur_ps > scale ? r->gaps[i].dur_ps : scale;
    if (!r->gap_count)
        return;
    vp_unit unit = rep_unit_for(p->v.unit, scale);
    html_puts(p, "<div class=\"what\"><h3>Longest gaps</h3></div>\n");
    html_table(p, "list", "Longest gaps");
    html_head(p, "", "At", NULL, "Start, relative to the profile’s begin");
    if (r->device_count > 1)
        html_head(p, "text", "Device", NULL, NULL);
    html_head(p, "", "Length", rep_unit_sign(unit), NULL);
    html_head(p, "", "of idle", NULL, "Of the device’s idle time");
    html_head(p, "text", "Cause", NULL, "What takes most of the gap, and its share of it");
    html_head(p, "text", "The host did", NULL, NULL);
    html_head(p, "text", "Thread", NULL, "The one that launches the next op");
    html_head(p, "text", "Next op", NULL, NULL);
    html_head(p, "text", "Scope", NULL, "Where the next op stands");
    html_rows(p);
    for (size_t i = 0; i < r->gap_count; i++) {
        if (!html_shows(p, r->gaps[i].device))
            continue;
        bool small = r->gaps[i].dur_ps < scale / SMALL_PART;
        if (matching++ < (small ? GAPS_ALWAYS : GAPS_MAX)) {
            gap_row(p, &r->gaps[i], unit);
            shown++;
        }
    }
    html_table_end(p, matching - shown);
}

/* ---- By label ---- */

static void label_row(page *p, const vp_idle_label *l, vp_unit unit)
{
    const vp_report *r = p->r;
    int64_t idle = l->device < r->device_count ? r->devices[l->device].breakdown.idle_ps : 0;
    html_puts(p, "<tr>");
    html_name_cell(p, l->label ? l->label : "nothing that is recorded", l->thread);
    if (r->device_count > 1)
        html_device_cell(p, l->device);
    vp_buf_printf(p->b, "<td class=\"text\" title=\"%s\">%s</td>", rep_cause_text(l->cause),
                  rep_cause_name(l->cause));
    html_ps_cell(p, l->total_ps, unit);
    html_bar_cell(p, "idle", l->total_ps, idle, idle);
    html_count_cell(p, l->gaps);
    html_puts(p, "</tr>\n");
}

static void put_labels(page *p)
{
    const vp_report *r = p->r;
    size_t matching = 0, shown = 0;
    if (!r->idle_label_count)
        return;
    vp_unit unit = rep_unit_for(p->v.unit, r->idle_labels[0].total_ps);
    html_puts(p, "<div class=\"what\"><h3>What the host did meanwhile</h3></div>\n");
    html_table(p, "list", "What the host did meanwhile");
    html_head(p, "op", "Label", NULL, "The label, and its thread");
    if (r->device_count > 1)
        html_head(p, "text", "Device", NULL, NULL);
    html_head(p, "text", "Cause", NULL, NULL);
    html_head(p, "", "Idle", rep_unit_sign(unit), NULL);
    html_head(p, "share", "Idle", "%", "Of the device’s idle time");
    html_head(p, "", "Gaps", NULL, NULL);
    html_rows(p);
    for (size_t i = 0; i < r->idle_label_count; i++) {
        const vp_idle_label *l = &r->idle_labels[i];
        if (!html_shows(p, l->device))
            continue;
        bool small = l->total_ps < r->idle_labels[0].total_ps / SMALL_PART;
        if (matching++ < LABELS_MAX && !small) {
            label_row(p, l, unit);
            shown++;
        }
    }
    html_table_end(p, matching - shown);
}

int html_idle(page *p)
{
    html_section(p, "idle", "Idle time and its causes");
    put_causes(p);
    put_gaps(p);
    put_labels(p);
    html_section_end(p);
    return p->b->status;
}
