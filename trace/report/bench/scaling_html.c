/* The page of time by the number of devices. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/bench/result_tables.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/labels/shown_rows.h"

#define WHOLE 10000

/* Share of WHOLE; a file may contain any value. */
static int64_t share_of(const scaling_row *r)
{
    return (int64_t)(fmin(r->efficiency, 1000) * WHOLE);
}

/* A bar relative to the longest of the table. */
static void efficiency_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    const scaling_row *r = row;
    (void)c;
    if (r->efficiency > 0)
        html_bar_cell(p, "comp", share_of(r), *(const int64_t *)t->of, WHOLE);
    else
        html_text_cell(p, NULL, false);
}

/* Its time by number of devices, from 0 on; a single point is no curve. */
static int html_put_scaling_curve(page *p, const scaling_row *rows, size_t n)
{
    VP_CLEANUP(vp_free_ptr) int64_t *xy = vp_calloc(2 * n, sizeof *xy);
    VP_NEED(xy);
    for (size_t i = 0; i < n; i++) {
        xy[i] = rows[i].devices;
        xy[n + i] = rows[i].time_ps;
    }
    html_curve(p, "curve", xy, xy + n, n, 0);
    return 0;
}

static int html_put_method(page *p, const scaling_row *rows, size_t n)
{
    int64_t scale = WHOLE;
    char id[32];
    tbl t;
    for (size_t i = 0; i < n; i++)
        scale = share_of(&rows[i]) > scale ? share_of(&rows[i]) : scale;
    tbl_scaling(&t, rows, n, &p->v);
    t.of = &scale;
    t.own_html = efficiency_cell;
    snprintf(id, sizeof id, "method-%zu", p->matching++);
    html_section(p, id, t.title);
    if (n > 1)
        VP_TRY(html_put_scaling_curve(p, rows, n));
    html_put_table(p, &t);
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
        VP_TRY(html_put_method(&p, &s->rows[i], end - i));
    }
    html_puts(&p, "</main>\n");
    html_end(&p);
    return b->status;
}
