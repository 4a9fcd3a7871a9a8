/* Threads, and data recorded by the program: arguments of zones, counters, metadata. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/table/program_tables.h"

#define ROWS_MAX 30u

bool html_has_threads(const page *p)
{
    tbl t;
    tbl_threads(&t, p->r, &p->v);
    return tbl_any(&t);
}

int html_threads(page *p)
{
    tbl t;
    tbl_threads(&t, p->r, &p->v);
    t.most = ROWS_MAX;
    return html_table_section(p, "threads", &t);
}

bool html_has_args(const page *p)
{
    tbl t;
    tbl_args(&t, p->r, &p->v);
    return tbl_any(&t);
}

static void texts_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    const vp_values *x = row;
    (void)t, (void)c;
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

int html_args(page *p)
{
    tbl t;
    tbl_args(&t, p->r, &p->v);
    t.most = ROWS_MAX;
    t.own_html = texts_cell;
    return html_table_section(p, "args", &t);
}

bool html_has_counters(const page *p)
{
    tbl t;
    tbl_counters(&t, p->r, &p->v);
    return tbl_any(&t);
}

int html_counters(page *p)
{
    tbl t;
    tbl_counters(&t, p->r, &p->v);
    t.most = ROWS_MAX;
    return html_table_section(p, "counters", &t);
}

bool html_has_meta(const page *p)
{
    tbl t;
    tbl_meta(&t, p->r, &p->v);
    return tbl_any(&t);
}

int html_meta(page *p)
{
    tbl t;
    tbl_meta(&t, p->r, &p->v);
    t.most = ROWS_MAX;
    return html_table_section(p, "meta", &t);
}
