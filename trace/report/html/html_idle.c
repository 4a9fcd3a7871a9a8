/* Idle time on the page: causes, gaps, labels. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/table/device_tables.h"
#include "trace/report/table/idle_tables.h"

#define GAPS_MAX 30u
#define LABELS_MAX 30u
/* After the first few, gaps below this share of the longest one, and labels below this share of the
 * first one, are left out: usually there are thousands. */
#define GAPS_ALWAYS 5u
#define SMALL_PART 200

bool html_has_idle(const page *p)
{
    device_table causes;
    return p->r->gap_count || p->r->idle_label_count || tbl_idle_causes(&causes, p->r, &p->v);
}

static void put_causes(page *p)
{
    device_table d;
    if (!tbl_idle_causes(&d, p->r, &p->v))
        return;
    html_puts(p, "<div class=\"what\"><h3>Idle time by cause</h3> <span>percentages of the "
                 "device's idle time</span></div>\n");
    html_put_table(p, &d.t);
}

static bool is_small_gap(const tbl *t, const void *row)
{
    return ((const vp_gap *)row)->dur_ps < t->r->gaps[0].dur_ps / SMALL_PART;
}

static void html_put_gaps(page *p)
{
    tbl t;
    tbl_gaps(&t, p->r, &p->v);
    t.most = GAPS_MAX;
    t.is_minor = is_small_gap;
    t.always = GAPS_ALWAYS;
    if (t.row_count)
        html_titled_table(p, &t);
}

static bool is_small_label(const tbl *t, const void *row)
{
    return ((const vp_idle_label *)row)->total_ps < t->r->idle_labels[0].total_ps / SMALL_PART;
}

static void html_put_idle_labels(page *p)
{
    tbl t;
    tbl_idle_labels(&t, p->r, &p->v);
    t.most = LABELS_MAX;
    t.is_minor = is_small_label;
    if (t.row_count)
        html_titled_table(p, &t);
}

int html_idle(page *p)
{
    html_section(p, "idle", "Idle time and causes");
    put_causes(p);
    html_put_gaps(p);
    html_put_idle_labels(p);
    html_section_end(p);
    return p->b->status;
}
