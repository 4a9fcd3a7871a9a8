/* What threads did, and what the program says of itself: arguments of its zones, counters, facts.
 */
#include <math.h>

#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/words/numbers.h"

#define ROWS_MAX 30u

static bool is_of(const page *p, const char *host)
{
    return !p->v.host || vp_str_eq(vp_str_of(p->v.host), vp_str_of(host));
}

/* ---- Threads ---- */

bool html_has_threads(const page *p)
{
    for (size_t i = 0; i < p->r->thread_count; i++)
        if (html_shows(p, p->r->threads[i].device))
            return true;
    return false;
}

static void thread_row(page *p, const vp_thread *x, vp_unit unit)
{
    const char *host = x->device < p->r->device_count ? p->r->devices[x->device].host : NULL;
    html_puts(p, "<tr>");
    html_name_cell(p, x->name, x->steps ? "carries the steps" : NULL);
    html_device_cell(p, x->device);
    html_ps_cell(p, x->work_ps, unit);
    html_ps_cell(p, x->wait_ps, unit);
    html_ps_cell(p, x->lost_ps, unit);
    html_text_cell(p, x->zone);
    html_percent_cell(p, x->zone_ps, x->work_ps);
    html_text_cell(p, x->wait);
    html_place_cell(p, VP_NO_DEVICE, host, x->wait ? x->wait_start_ps : VP_NO_TIME, x->wait_dur_ps);
    html_puts(p, "</tr>\n");
}

int html_threads(page *p)
{
    const vp_report *r = p->r;
    size_t matching = 0;
    vp_unit unit = rep_unit_for(p->v.unit, r->threads->work_ps);
    const char *sign = rep_unit_sign(unit);
    html_section(p, "threads", "Threads");
    html_table(p, "list", "Threads");
    html_head(p, "op", "Thread", NULL, NULL);
    html_head(p, "text", "Process", NULL, NULL);
    html_head(p, "", "Work", sign, "Self time outside of zones that wait");
    html_head(p, "", "Wait", sign, "Self time of zones that wait, by name or category");
    html_head(p, "", "Lost", sign, "Waiting that could have been work");
    html_head(p, "text", "Most work in", NULL, NULL);
    html_head(p, "", "Of work", "%", "The zone's part of the thread's work");
    html_head(p, "text", "Most lost in", NULL, NULL);
    html_head(p, "", "Longest", NULL, "The longest such wait");
    html_rows(p);
    for (size_t i = 0; i < r->thread_count; i++)
        if (html_shows(p, r->threads[i].device) && matching++ < ROWS_MAX)
            thread_row(p, &r->threads[i], unit);
    html_table_end(p, matching > ROWS_MAX ? matching - ROWS_MAX : 0);
    html_section_end(p);
    return p->b->status;
}

/* ---- Arguments and counters ---- */

static bool any_of(const page *p, const vp_values *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_of(p, rows[i].host))
            return true;
    return false;
}

bool html_has_args(const page *p)
{
    return any_of(p, p->r->args, p->r->arg_count);
}

bool html_has_counters(const page *p)
{
    return any_of(p, p->r->counters, p->r->counter_count);
}

static void value_cell(page *p, double v)
{
    html_puts(p, "<td>");
    if (isfinite(v))
        rep_put_value(p->b, v);
    else
        html_puts(p, "–");
    html_puts(p, "</td>");
}

static void texts_cell(page *p, const vp_values *x)
{
    html_puts(p, "<td class=\"text long\">");
    for (size_t i = 0; i < x->top_count; i++) {
        html_puts(p, i ? ", " : "");
        html_text(p, x->top[i].text);
        vp_buf_printf(p->b, " <span class=\"muted\">×%lld</span>", (long long)x->top[i].count);
    }
    if (x->others)
        vp_buf_printf(p->b, ", %lld others", (long long)x->others);
    html_puts(p, x->texts ? "</td>" : "–</td>");
}

static void values_row(page *p, const vp_values *x, bool counters)
{
    html_puts(p, "<tr>");
    html_name_cell(p, counters ? x->zone : x->key, counters ? NULL : x->zone);
    if (p->r->host_count > 1)
        html_text_cell(p, x->host);
    html_count_cell(p, x->numbers + x->texts);
    value_cell(p, x->min);
    value_cell(p, x->mean);
    value_cell(p, x->max);
    value_cell(p, counters ? x->last : x->sum);
    if (!counters)
        texts_cell(p, x);
    html_puts(p, "</tr>\n");
}

static int put_values(page *p, bool counters)
{
    const vp_report *r = p->r;
    const vp_values *rows = counters ? r->counters : r->args;
    size_t n = counters ? r->counter_count : r->arg_count, matching = 0;
    int64_t total = counters ? r->counter_total : r->arg_total;
    html_section(p, counters ? "counters" : "args", counters ? "Counters" : "Arguments of zones");
    html_table(p, "list", counters ? "Counters" : "Arguments of zones");
    html_head(p, "op", counters ? "Counter" : "Argument", NULL,
              counters ? NULL : "Its key, and the zone that it is of");
    if (r->host_count > 1)
        html_head(p, "text", "Host", NULL, NULL);
    html_head(p, "", counters ? "Values" : "Calls", NULL, NULL);
    html_head(p, "", "Min", NULL, NULL);
    html_head(p, "", "Mean", NULL, NULL);
    html_head(p, "", "Max", NULL, NULL);
    html_head(p, "", counters ? "Last" : "Sum", NULL, NULL);
    if (!counters)
        html_head(p, "text", "Texts", NULL, "The most frequent ones, and how often");
    html_rows(p);
    for (size_t i = 0; i < n; i++)
        if (is_of(p, rows[i].host) && matching++ < ROWS_MAX)
            values_row(p, &rows[i], counters);
    if (!p->v.host && total > (int64_t)n) /* of one host it is not known */
        matching += (size_t)total - n;
    html_table_end(p, matching > ROWS_MAX ? matching - ROWS_MAX : 0);
    html_section_end(p);
    return p->b->status;
}

int html_args(page *p)
{
    return put_values(p, false);
}

int html_counters(page *p)
{
    return put_values(p, true);
}

/* ---- Facts ---- */

bool html_has_meta(const page *p)
{
    for (size_t i = 0; i < p->r->meta_count; i++)
        if (is_of(p, p->r->meta[i].host))
            return true;
    return false;
}

int html_meta(page *p)
{
    const vp_report *r = p->r;
    size_t matching = 0;
    html_section(p, "meta", "What the program says of itself");
    html_table(p, "list", "What the program says of itself");
    html_head(p, "op", "Key", NULL, NULL);
    html_head(p, "text", "Value", NULL, NULL);
    html_rows(p);
    for (size_t i = 0; i < r->meta_count; i++) {
        const vp_meta *m = &r->meta[i];
        if (!is_of(p, m->host) || matching++ >= ROWS_MAX)
            continue;
        html_puts(p, "<tr>");
        html_name_cell(p, m->key, r->host_count > 1 ? m->host : NULL);
        html_text_cell(p, m->value);
        html_puts(p, "</tr>\n");
    }
    if (!p->v.host && r->meta_total > (int64_t)r->meta_count)
        matching += (size_t)r->meta_total - r->meta_count;
    html_table_end(p, matching > ROWS_MAX ? matching - ROWS_MAX : 0);
    html_section_end(p);
    return p->b->status;
}
