/* What stands above and below the op tables, of `top` and of `report`: where the time of each
 * device went, and what to doubt. */
#include <stdio.h>
#include <string.h>

#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/words.h"

enum { BREAKDOWN_COLUMNS = 3 + 2 * REP_PARTS };

static void breakdown_row(grid *g, const vp_device *d, vp_unit unit)
{
    int64_t parts[REP_PARTS];
    int shares[REP_PARTS];
    rep_breakdown_parts(parts, &d->breakdown);
    rep_shares(shares, parts, REP_PARTS);
    grid_escaped(g, d->name, TBL_PLAIN);
    grid_escaped(g, d->host, TBL_PLAIN);
    text_ps(g, d->breakdown.window_ps, unit);
    for (size_t i = 0; i < REP_PARTS; i++) {
        text_ps(g, parts[i], unit);
        rep_put_hundredths(&g->text, shares[i]);
        vp_buf_putc(&g->text, '%');
        grid_end(g, TBL_PLAIN);
    }
}

static void breakdown_head(grid *g, const vp_report *r, const char *unit)
{
    static const char *const times[REP_PARTS] = {"compute", "exp.comm", "exp.copy", "idle"};
    static const char *const shares[REP_PARTS] = {"compute%", "exp.comm%", "exp.copy%", "idle%"};
    text_head(g, r->has_devices ? "device" : "process", NULL);
    text_head(g, "host", NULL);
    text_head(g, "window", unit);
    for (size_t i = 0; i < REP_PARTS; i++) {
        text_head(g, times[i], unit);
        text_head(g, shares[i], NULL);
    }
}

int text_breakdown(vp_buf *b, const vp_report *r, const vp_view *v, const bool *skip, size_t limit)
{
    static const grid_column columns[BREAKDOWN_COLUMNS] = {
        {.left = true, .want = 12, .min = 8},
        {.left = true, .want = 8, .min = 4, .drop = TBL_DROP_LATE},
        {.drop = 0},
        {.drop = TBL_DROP_LATE + 1},
        {.drop = 0},
        {.drop = TBL_DROP_LATE + 1},
        {.drop = 0},
        {.drop = TBL_DROP_LATE + 1},
        {.drop = 0},
        {.drop = TBL_DROP_LATE + 1},
        {.drop = 0},
    };
    int64_t scale = 0;
    size_t shown = 0, more = 0;
    grid g;
    for (size_t i = 0; i < r->device_count; i++)
        if (r->devices[i].breakdown.window_ps > scale)
            scale = r->devices[i].breakdown.window_ps;
    vp_unit unit = rep_unit_for(v->unit, scale);
    grid_init(&g, columns, BREAKDOWN_COLUMNS);
    breakdown_head(&g, r, rep_unit_name(unit));
    for (size_t i = 0; i < r->device_count; i++) {
        if ((skip && skip[i]) || !rep_device_matches(r, v, i))
            continue;
        if (shown == limit) {
            more++;
            continue;
        }
        breakdown_row(&g, &r->devices[i], unit);
        shown++;
    }
    int rc = grid_print(b, &g, text_width(v), v->color);
    grid_free(&g);
    if (more)
        vp_buf_printf(b, "… %zu more\n", more);
    return rc < 0 ? rc : b->status;
}

static void quality_line(vp_buf *b, const vp_view *v, const vp_quality *q)
{
    grid_flow f = {.b = b, .width = text_width(v), .indent = 4, .gap = 1};
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_printf(&line, "%s: ", rep_severity_name(q->severity));
    if (q->file) {
        vp_put_escaped(&line, vp_str_of(q->file));
        if (q->event >= 0)
            vp_buf_printf(&line, ": event %lld", (long long)q->event);
        if (q->byte >= 0)
            vp_buf_printf(&line, "%s byte %lld", q->event >= 0 ? "," : ":", (long long)q->byte);
        vp_buf_puts(&line, ": ");
    }
    vp_put_escaped(&line, vp_str_of(q->message));
    vp_buf_puts(&line, " [");
    vp_put_escaped(&line, vp_str_of(q->code));
    vp_buf_puts(&line, q->partial ? "; figures are partial]" : "]");
    grid_color_on(b, q->severity == VP_SEV_ERROR ? TBL_BAD : TBL_PLAIN, v->color);
    grid_flow_words(&f, &line);
    grid_color_off(b, q->severity == VP_SEV_ERROR ? TBL_BAD : TBL_PLAIN, v->color);
    grid_flow_end(&f);
    vp_buf_free(&line);
}

int text_quality(vp_buf *b, const vp_report *r, const vp_view *v, vp_severity least, size_t limit)
{
    size_t shown = 0, all = 0;
    for (int s = VP_SEV_ERROR; s >= (int)least; s--) {
        for (size_t i = 0; i < r->quality_count; i++) {
            if (r->quality[i].severity != (vp_severity)s || all++ >= limit)
                continue;
            if (!shown++)
                text_title(b, v, "Data quality");
            quality_line(b, v, &r->quality[i]);
        }
    }
    if (all > shown)
        vp_buf_printf(b, "… %zu more\n", all - shown);
    return b->status;
}
