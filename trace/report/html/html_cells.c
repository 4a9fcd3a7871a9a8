/* Sections, tables, cells and places in time, for all parts of a page. */
#include <math.h>

#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/labels/numbers.h"

void html_section(page *p, const char *id, const char *title)
{
    vp_buf_printf(p->b, "<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">%s</h2>\n",
                  id, id, id, title);
}

void html_section_end(page *p)
{
    html_puts(p, "</section>\n");
}

void html_table(page *p, const char *css_class, const char *title)
{
    vp_buf_printf(p->b,
                  "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n"
                  "<table class=\"%s\">\n<caption class=\"vh\">%s</caption>\n<thead><tr>",
                  title, css_class, title);
}

void html_head(page *p, const char *css_class, const char *text, const char *unit,
               const char *title)
{
    vp_buf_printf(p->b, "<th scope=\"col\" class=\"%s\"", css_class);
    if (title)
        vp_buf_printf(p->b, " title=\"%s\"", title);
    vp_buf_printf(p->b, ">%s", text);
    if (unit)
        vp_buf_printf(p->b, " <span>%s</span>", unit);
    html_puts(p, "</th>\n");
}

void html_rows(page *p)
{
    html_puts(p, "</tr></thead>\n<tbody>\n");
}

void html_table_end(page *p, size_t more)
{
    html_puts(p, "</tbody>\n</table>\n</div>\n");
    if (more)
        vp_buf_printf(p->b, "<p class=\"note\">… %zu more</p>\n", more);
}

/* ---- Cells ---- */

void html_name_cell(page *p, const char *name, const char *below)
{
    html_puts(p, "<th scope=\"row\" class=\"op\" title=\"");
    html_text(p, name);
    if (below) {
        html_puts(p, "\n");
        html_text(p, below);
    }
    html_puts(p, "\"><span class=\"name\">");
    html_text(p, name);
    html_puts(p, "</span>");
    if (below) {
        html_puts(p, "<span class=\"sub\">");
        html_text(p, below);
        html_puts(p, "</span>");
    }
    html_puts(p, "</th>");
}

void html_device_cell(page *p, uint32_t device)
{
    const vp_report *r = p->r;
    html_puts(p, "<td class=\"text\">");
    if (device < r->device_count) {
        html_text(p, r->devices[device].name);
        if (r->host_count > 1) {
            html_puts(p, "<span class=\"sub\">");
            html_text(p, r->devices[device].host);
            html_puts(p, "</span>");
        }
    } else {
        html_puts(p, "host");
    }
    html_puts(p, "</td>");
}

void html_text_cell(page *p, const char *text, bool keep_end)
{
    if (!text) {
        html_puts(p, "<td class=\"text\">–</td>");
        return;
    }
    html_puts(p, keep_end ? "<td class=\"text long path\" title=\""
                          : "<td class=\"text long\" title=\"");
    html_text(p, text);
    html_puts(p, keep_end ? "\"><bdi>" : "\">");
    html_text(p, text);
    html_puts(p, keep_end ? "</bdi></td>" : "</td>");
}

void html_ps_cell(page *p, int64_t ps, vp_unit unit)
{
    html_puts(p, "<td>");
    html_number(p, ps, unit);
    html_puts(p, "</td>");
}

void html_count_cell(page *p, int64_t n)
{
    html_puts(p, "<td>");
    if (n < 0)
        html_puts(p, "–");
    else
        rep_put_count(p->b, n, true);
    html_puts(p, "</td>");
}

void html_bytes_cell(page *p, int64_t bytes)
{
    html_puts(p, "<td>");
    if (bytes < 0)
        html_puts(p, "–");
    else
        rep_put_bytes(p->b, bytes);
    html_puts(p, "</td>");
}

void html_percent_cell(page *p, int64_t part, int64_t whole)
{
    html_puts(p, "<td>");
    if (part < 0 || whole <= 0)
        html_puts(p, "–");
    else
        rep_put_percent(p->b, part, whole);
    html_puts(p, "</td>");
}

void html_double_cell(page *p, double v, int decimals)
{
    html_puts(p, "<td>");
    if (isfinite(v))
        rep_put_number(p->b, v, decimals);
    else
        html_puts(p, "–");
    html_puts(p, "</td>");
}

void html_bar_cell(page *p, const char *css_class, int64_t part, int64_t scale, int64_t whole)
{
    html_puts(p, "<td class=\"share\"><svg aria-hidden=\"true\">");
    html_rect(p, css_class, 0, html_hundredths(part, scale));
    html_puts(p, "</svg><b>");
    if (part < 0 || whole <= 0)
        html_puts(p, "–");
    else
        rep_put_percent(p->b, part, whole);
    html_puts(p, "</b></td>");
}

/* ---- Places in time ---- */

/* To the nearest ns, as exports are rounded: Perfetto finds the event by it. */
static int64_t round_to_whole_ns(int64_t ps)
{
    int64_t down = ps / 1000 - (ps % 1000 < 0), rest = (ps % 1000 + 1000) % 1000;
    return down + (rest >= 500);
}

/* Nanoseconds as on Perfetto's timeline of the host: a half-open range that is never empty. */
static bool perfetto_range(int64_t *from, int64_t *until, int64_t start_ps, int64_t dur_ps,
                           int64_t timeline_ns)
{
    int64_t end_ps;
    if (dur_ps < 0 || start_ps == VP_NO_TIME || __builtin_add_overflow(start_ps, dur_ps, &end_ps) ||
        __builtin_add_overflow(round_to_whole_ns(start_ps), timeline_ns, from) ||
        __builtin_add_overflow(round_to_whole_ns(end_ps), timeline_ns, until) || *from < 0)
        return false;
    if (*until == *from && __builtin_add_overflow(*from, 1, until))
        return false;
    return true;
}

/* Any device of a host leads to its host's timeline. */
static const vp_device *any_device_of_host(const vp_report *r, const char *host)
{
    for (size_t i = 0; i < r->device_count; i++)
        if (!host || vp_str_eq(vp_str_of(host), vp_str_of(r->devices[i].host)))
            return &r->devices[i];
    return NULL;
}

bool html_open_place(page *p, uint32_t device, const char *host, int64_t start_ps, int64_t dur_ps)
{
    const vp_report *r = p->r;
    const vp_device *d =
        device < r->device_count ? &r->devices[device] : any_device_of_host(r, host);
    int64_t from, until;
    const char *own = p->links.timeline, *to = own ? own : p->links.perfetto;
    bool one_of = r->host_count > 1 && d && d->host;
    if (!to || !d || !perfetto_range(&from, &until, start_ps, dur_ps, d->timeline_ns))
        return false;
    html_puts(p, own ? "<a title=\"Show this in the timeline\" href=\""
                     : "<a title=\"Show this in Perfetto\" href=\"");
    html_text(p, p->links.base ? p->links.base : "");
    html_text(p, to);
    if (one_of) {
        html_puts(p, own ? "?host=" : "/");
        html_url(p, d->host);
    }
    vp_buf_printf(p->b, "%sat=%lld..%lld\">", own && one_of ? "&amp;" : "?", (long long)from,
                  (long long)until);
    return true;
}

/* Times before the report's zero are rare (drifting clocks) and keep their sign. */
static void put_when(page *p, int64_t ps, int64_t dur_ps)
{
    int64_t size = ps < 0 ? -ps : ps;
    vp_unit unit = rep_unit_for(p->v.unit, size);
    html_puts(p, ps < 0 ? "−" : "");
    rep_put_when(p->b, size, unit, dur_ps);
    vp_buf_printf(p->b, " %s", rep_unit_sign(unit));
}

void html_place(page *p, uint32_t device, const char *host, int64_t start_ps, int64_t dur_ps)
{
    if (start_ps == VP_NO_TIME) {
        html_puts(p, "–");
        return;
    }
    bool link = html_open_place(p, device, host, start_ps, dur_ps);
    put_when(p, start_ps, dur_ps);
    html_puts(p, link ? "</a>" : "");
}

void html_place_cell(page *p, uint32_t device, const char *host, int64_t start_ps, int64_t dur_ps)
{
    html_puts(p, "<td>");
    html_place(p, device, host, start_ps, dur_ps);
    html_puts(p, "</td>");
}

/* ---- Facts ---- */

void html_open_fact(page *p, const char *name)
{
    vp_buf_printf(p->b, "<div><dt>%s</dt><dd>", name);
}

void html_close_fact(page *p)
{
    html_puts(p, "</dd></div>\n");
}

void html_duration_fact(page *p, const char *name, int64_t ps)
{
    if (ps < 0)
        return;
    html_open_fact(p, name);
    html_duration(p, ps, ps);
    html_close_fact(p);
}

void html_count_fact(page *p, const char *name, int64_t n)
{
    if (n < 0)
        return;
    html_open_fact(p, name);
    rep_put_count(p->b, n, true);
    html_close_fact(p);
}
