/* The devices of a run on the page: a bar of four parts each. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

/* Devices beyond this number are in a collapsed section: a page of 256 bars is not readable. */
#define DEVICES_OPEN 8u

static void html_put_parts_bar(page *p, const int shares[REP_PARTS])
{
    int from = 0;
    html_puts(p, "<svg class=\"stack\" aria-hidden=\"true\">");
    for (size_t i = 0; i < REP_PARTS; i++) {
        if (shares[i])
            html_rect(p, rep_part_css[i], from, shares[i]);
        from += shares[i];
    }
    html_puts(p, "</svg>\n");
}

static void html_put_parts_legend(page *p, const vp_breakdown *d, const int shares[REP_PARTS])
{
    int64_t parts[REP_PARTS];
    rep_breakdown_parts(parts, d);
    html_puts(p, "<ul class=\"legend\">\n");
    for (size_t i = 0; i < REP_PARTS; i++) {
        const char *name = p->r->has_devices || i != REP_COMPUTE ? rep_part_names[i] : "busy";
        if (!parts[i] && !p->r->has_devices)
            continue;
        vp_buf_printf(p->b, "<li><i class=\"dot %s\"></i>%s <b>", rep_part_css[i], name);
        rep_put_hundredths(p->b, shares[i]);
        html_puts(p, "%</b> <span>");
        html_duration(p, parts[i], d->window_ps);
        html_puts(p, "</span></li>\n");
    }
    html_puts(p, "</ul>\n");
}

static void html_put_device_bar(page *p, size_t i)
{
    const vp_device *d = &p->r->devices[i];
    int64_t parts[REP_PARTS];
    int shares[REP_PARTS];
    rep_breakdown_parts(parts, &d->breakdown);
    rep_shares(shares, parts, REP_PARTS);
    html_puts(p, "<li>\n<p class=\"device\"><strong>");
    html_text(p, d->name);
    html_puts(p, "</strong> ");
    if (d->host) {
        html_puts(p, "<span class=\"host\">");
        html_text(p, d->host);
        html_puts(p, "</span> ");
    }
    html_puts(p, "<span>window ");
    html_duration(p, d->breakdown.window_ps, d->breakdown.window_ps);
    html_puts(p, d->own_clock ? ", device clock</span>" : "</span>");
    if (p->links.controls && !p->full[i]) {
        html_puts(p, " <a href=\"");
        html_device_query(p, d);
        html_puts(p, "#ops\">its slowest ops</a>");
    }
    html_puts(p, "</p>\n");
    html_put_parts_bar(p, shares);
    html_put_parts_legend(p, &d->breakdown, shares);
    html_puts(p, "</li>\n");
}

/* Devices with a table below come first if some are collapsed. */
static void put_some(page *p, bool with_table, size_t *shown)
{
    for (size_t i = 0; i < p->r->device_count; i++) {
        if (!rep_device_matches(p->r, &p->v, i))
            continue;
        if (p->matching > DEVICES_OPEN && p->full[i] != with_table)
            continue;
        if ((*shown)++ == DEVICES_OPEN)
            vp_buf_printf(p->b,
                          "</ul>\n<details class=\"fold\"><summary>%zu more</summary>\n"
                          "<ul class=\"devices\">\n",
                          p->matching - DEVICES_OPEN);
        html_put_device_bar(p, i);
    }
}

bool html_has_devices(const page *p)
{
    return p->matching > 0;
}

int html_devices(page *p)
{
    size_t shown = 0;
    html_section(p, "where", "Device time breakdown");
    html_puts(p, "<ul class=\"devices\">\n");
    put_some(p, true, &shown);
    if (p->matching > DEVICES_OPEN)
        put_some(p, false, &shown);
    html_puts(p, shown > DEVICES_OPEN ? "</ul>\n</details>\n" : "</ul>\n");
    html_section_end(p);
    return p->b->status;
}
