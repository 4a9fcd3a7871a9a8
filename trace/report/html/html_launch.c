/* Launches and avoidable work of ops on the page. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/table/device_tables.h"
#include "trace/report/labels/shared_code.h"

/* ---- Launches ---- */

bool html_has_launch(const page *p)
{
    tbl t;
    tbl_launches(&t, p->r, &p->v);
    return tbl_any(&t);
}

int html_launch(page *p)
{
    tbl t;
    tbl_launches(&t, p->r, &p->v);
    return html_table_section(p, "launch", &t);
}

/* ---- Avoidable work of ops ---- */

bool html_has_hygiene(const page *p)
{
    device_table d;
    return tbl_hygiene(&d, p->r, &p->v);
}

int html_hygiene(page *p)
{
    device_table d;
    tbl_hygiene(&d, p->r, &p->v);
    html_section(p, "hygiene", d.t.title);
    html_puts(p, "<p class=\"note\">Self times; percentages of device op time. An op can count in "
                 "several columns. ");
    rep_put_shared_code(p->b, p->r, &p->v);
    html_puts(p, "</p>\n");
    html_put_table(p, &d.t);
    html_section_end(p);
    return p->b->status;
}
