/* Differences as cells and facts of a page. */
#include "trace/report/compare/compare_view.h"
#include "trace/report/compare/delta_cells.h"
#include "trace/report/compare/delta_columns.h"
#include "trace/report/html/html_parts.h"

static const char *delta_css_direction(const vp_delta *d)
{
    return d->delta_ps > 0 ? "worse" : "better";
}

static void html_put_signed_delta(page *p, const vp_delta *d, vp_unit unit)
{
    if (d->delta_ps == VP_NO_TIME) {
        html_puts(p, "–");
        return;
    }
    html_puts(p, d->delta_ps > 0 ? "+" : d->delta_ps < 0 ? "−" : "±");
    rep_put_ps(p->b, rep_delta_size(d), unit);
}

static void html_put_percent_change(page *p, const vp_delta *d)
{
    if (d->delta_ps == VP_NO_TIME || d->a_ps <= 0) {
        html_puts(p, "–");
        return;
    }
    html_puts(p, d->delta_ps > 0 ? "+" : d->delta_ps < 0 ? "−" : "±");
    rep_put_percent(p->b, rep_delta_size(d), d->a_ps);
}

static void bar_cell(page *p, const vp_delta *d, vp_unit unit, int64_t scale)
{
    int64_t width = html_hundredths(rep_delta_size(d), scale) / 2;
    html_puts(p, "<td class=\"share delta\"><svg aria-hidden=\"true\">");
    if (width)
        html_rect(p, delta_css_direction(d), REP_PERCENT_ALL / 2 - (d->delta_ps < 0 ? width : 0),
                  width);
    html_puts(p, "</svg><b>");
    html_put_signed_delta(p, d, unit);
    html_puts(p, "</b></td>");
}

bool delta_html(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    const vp_delta *d = delta_at(c, row);
    if (c->own >= DELTA_OTHERS)
        return false;
    if (c->own == DELTA_BAR) {
        bar_cell(p, d, t->unit[c->scale], ((const delta_table *)t)->widest);
        return true;
    }
    html_puts(p, "<td>");
    if (c->own == DELTA_CHANGE)
        html_put_percent_change(p, d);
    else
        html_put_signed_delta(p, d, t->unit[c->scale]);
    html_puts(p, "</td>");
    return true;
}

void html_delta_fact(page *p, const char *name, const vp_delta *d)
{
    int64_t scale = d->a_ps > d->b_ps ? d->a_ps : d->b_ps;
    vp_unit unit = rep_unit_for(VP_UNIT_AUTO, scale);
    if (d->a_ps < 0 && d->b_ps < 0)
        return;
    html_open_fact(p, name);
    html_number(p, d->a_ps, unit);
    html_puts(p, " → ");
    html_number(p, d->b_ps, unit);
    vp_buf_printf(p->b, " %s", rep_unit_sign(unit));
    if (d->delta_ps != VP_NO_TIME) {
        html_puts(p, ", <b>");
        html_put_percent_change(p, d);
        html_puts(p, "</b>");
    }
    html_close_fact(p);
}
