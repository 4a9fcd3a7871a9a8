/* The page of time by the number of devices. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/bench/scaling.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"

#define WHOLE 10000

/* Of WHOLE; a file may claim anything. */
static int64_t share_of(const scaling_row *r)
{
    return (int64_t)(fmin(r->efficiency, 1000) * WHOLE);
}

static void put_row(page *p, const scaling_row *r, vp_unit unit, int64_t scale)
{
    html_puts(p, "<tr>");
    html_name_cell(p, r->method, NULL);
    html_count_cell(p, r->devices);
    html_ps_cell(p, r->time_ps, unit);
    html_ps_cell(p, r->first_call_ps, unit);
    html_double_cell(p, r->speed_up > 0 ? r->speed_up : NAN, 2);
    if (r->efficiency > 0)
        html_bar_cell(p, "comp", share_of(r), scale, WHOLE);
    else
        html_text_cell(p, NULL);
    html_text_cell(p, r->ok ? r->trace : r->error ? r->error : "failed");
    html_puts(p, "</tr>\n");
}

/* Its time by devices, from 0 on; one point is no curve. */
static int put_curve(page *p, const scaling_row *rows, size_t n)
{
    VP_CLEANUP(vp_free_ptr) int64_t *xy = vp_calloc(2 * n, sizeof *xy);
    if (!xy)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        xy[i] = rows[i].devices;
        xy[n + i] = rows[i].time_ps;
    }
    html_curve(p, "curve", xy, xy + n, n);
    return 0;
}

static int put_method(page *p, const scaling_row *rows, size_t n)
{
    int64_t longest = 0, scale = WHOLE;
    char id[32];
    for (size_t i = 0; i < n; i++) {
        longest = rows[i].time_ps > longest ? rows[i].time_ps : longest;
        scale = share_of(&rows[i]) > scale ? share_of(&rows[i]) : scale;
    }
    vp_unit unit = rep_unit_for(p->v.unit, longest);
    const char *name = rep_unit_name(unit);
    snprintf(id, sizeof id, "method-%zu", p->matching++);
    html_section(p, id, "Time by devices");
    if (n > 1)
        VP_TRY(put_curve(p, rows, n));
    html_table(p, "runs", "Time by devices");
    html_head(p, "op", "Method", NULL, NULL);
    html_head(p, "", "Devices", NULL, NULL);
    html_head(p, "", "Time", name, NULL);
    html_head(p, "", "First call", name, "With compilation");
    html_head(p, "", "Speed-up", NULL, "Against the fewest devices");
    html_head(p, "share", "Efficiency", NULL, "Speed-up by what as many more devices would give");
    html_head(p, "text", "Trace", NULL, NULL);
    html_rows(p);
    for (size_t i = 0; i < n; i++)
        put_row(p, &rows[i], unit, scale);
    html_table_end(p, 0);
    html_section_end(p);
    return 0;
}

int rep_scaling_html(vp_buf *b, const scaling *s, const vp_view *view)
{
    page p = {.b = b, .v = rep_view(view)};
    html_begin(&p, "Scaling");
    html_puts(&p, "<h1>Scaling over devices</h1>\n</header>\n<main id=\"main\">\n");
    for (size_t i = 0, end; i < s->count; i = end) {
        for (end = i; end < s->count && !strcmp(s->rows[end].method, s->rows[i].method); end++)
            ;
        VP_TRY(put_method(&p, &s->rows[i], end - i));
    }
    html_puts(&p, "</main>\n");
    html_end(&p);
    return b->status;
}
