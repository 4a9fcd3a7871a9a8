/* MFU breakdown on the page: a sentence and a bar of cells for each device, the roofline of ops as
 * a picture without a script, and the same as tables. */
#include <math.h>

#include "trace/analyze/result/look_up.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/table/mfu_tables.h"
#include "trace/report/labels/mfu_words.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"

#define DEVICES_MAX 8u
#define ROWS_MAX 20u
#define POINTS_MAX 200u

/* The picture, in units of its view box. */
#define WIDTH 1000
#define HEIGHT 420
#define LEFT_EDGE 70
#define FLOOR_LINE 380

static bool is_shown_mfu_device(const page *p, size_t i)
{
    return rep_device_matches(p->r, &p->v, i) && rep_has_mfu(&p->r->devices[i]);
}

bool html_has_mfu(const page *p)
{
    for (size_t i = 0; p->r->has_devices && i < p->r->device_count; i++)
        if (is_shown_mfu_device(p, i))
            return true;
    return false;
}

static void html_put_cells_bar(page *p, const mfu_cell *cells, const int *shares, size_t n)
{
    int from = 0;
    html_puts(p, "<svg class=\"stack\" aria-hidden=\"true\">");
    for (size_t i = 0; i < n; i++) {
        if (shares[i])
            html_rect(p, cells[i].css, from, shares[i]);
        from += shares[i];
    }
    html_puts(p, "</svg>\n<ul class=\"legend\">\n");
}

static void html_put_device_mfu(page *p, size_t i)
{
    const vp_device *d = &p->r->devices[i];
    mfu_cell cells[MFU_CELLS_MAX];
    int shares[MFU_CELLS_MAX];
    size_t n = rep_mfu_cells(cells, d);
    vp_buf line;
    vp_buf_init(&line, 4096);
    rep_put_mfu(&line, p->r, &p->v, i);
    html_puts(p, "<li>\n<p>");
    html_text(p, vp_buf_cstr(&line));
    html_puts(p, "</p>\n");
    vp_buf_free_piece(p->b, &line);
    if (d->mfu.peak_gflops <= 0) {
        html_puts(p, "</li>\n");
        return;
    }
    rep_mfu_shares(shares, cells, n);
    html_put_cells_bar(p, cells, shares, n);
    for (size_t c = 0; c < n; c++) {
        if (cells[c].ps <= 0)
            continue;
        vp_buf_printf(p->b, "<li title=\"%s\"><i class=\"dot %s\"></i>%s%s%s <b>", cells[c].tip,
                      cells[c].css, c < VP_CELLS ? "<a href=\"#ops\">" : "", cells[c].name,
                      c < VP_CELLS ? "</a>" : "");
        rep_put_hundredths(p->b, shares[c]);
        html_puts(p, "%</b> <span>");
        html_duration(p, cells[c].ps, d->breakdown.window_ps);
        html_puts(p, "</span></li>\n");
    }
    html_puts(p, "</ul>\n</li>\n");
}

/* ---- The roofline: FLOP/s by FLOP per byte, both logarithmic ---- */

typedef struct axes {
    double x0, x1, y0, y1; /* decimal exponents, integers */
} axes;

static double at_x(const axes *a, double exponent)
{
    return LEFT_EDGE + (exponent - a->x0) / (a->x1 - a->x0) * (WIDTH - LEFT_EDGE - 10);
}

static double at_y(const axes *a, double exponent)
{
    return FLOOR_LINE - (exponent - a->y0) / (a->y1 - a->y0) * (FLOOR_LINE - 10);
}

/* "0.1", "100", from 10,000 on "10⁴", and the end of its text. */
static void put_power(page *p, double exponent)
{
    if (fabs(exponent) < 4)
        vp_buf_printf(p->b, "%g</text>", pow(10, exponent));
    else
        vp_buf_printf(p->b, "10<tspan dy=\"-5\" font-size=\"10\">%.0f</tspan></text>", exponent);
}

static void put_grid(page *p, const axes *a)
{
    for (double x = a->x0; x <= a->x1; x++) {
        vp_buf_printf(
            p->b, "<path d=\"M%.0f 10V%d\"/><text x=\"%.0f\" y=\"%d\" text-anchor=\"%s\">",
            at_x(a, x), FLOOR_LINE, at_x(a, x), FLOOR_LINE + 18, x < a->x1 ? "middle" : "end");
        put_power(p, x);
    }
    for (double y = a->y0; y <= a->y1; y++) {
        vp_buf_printf(p->b,
                      "<path d=\"M%d %.0fH%d\"/><text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">",
                      LEFT_EDGE, at_y(a, y), WIDTH - 10, LEFT_EDGE - 6, at_y(a, y) + 5);
        put_power(p, y);
    }
    vp_buf_printf(p->b,
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">FLOP/byte</text><text x=\"%d\" "
                  "y=\"26\">GFLOP/s</text>",
                  WIDTH - 10, HEIGHT - 4, LEFT_EDGE + 8);
}

static void put_point(page *p, const axes *a, const roof_row *row, int64_t most_ps)
{
    bool link = row->op && html_open_op(p, row->op);
    vp_buf_printf(p->b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>",
                  at_x(a, log10(row->intensity)), at_y(a, log10(row->gflop_s)),
                  3 + 9 * sqrt((double)row->time_ps / (double)most_ps));
    html_text(p, row->name);
    html_puts(p, ": ");
    rep_put_number(p->b, row->of_bound, 1);
    vp_buf_printf(p->b, "%% of the %s bound</title></circle>%s", row->bound, link ? "</a>" : "");
}

static bool is_point(const roof_row *row)
{
    return row->intensity > 0 && row->gflop_s > 0;
}

static void axes_widen(axes *a, double x, double y)
{
    a->x0 = fmin(a->x0, floor(log10(x)));
    a->x1 = fmax(a->x1, ceil(log10(x) + .01));
    a->y0 = fmin(a->y0, floor(log10(y)));
    a->y1 = fmax(a->y1, ceil(log10(y) + .01));
}

/* For the first device with peaks; the others are the same chips. of: "ops", "scopes". */
static void put_roof(page *p, const vp_mfu *m, const char *of, const roof_row *rows, size_t n)
{
    double peak = (double)m->peak_gflops, gb_s = (double)m->bandwidth_mb_s / 1000;
    double ridge = peak / gb_s;
    axes a = {floor(log10(ridge)) - 1, ceil(log10(ridge)) + 1, floor(log10(peak)) - 2,
              ceil(log10(peak))};
    size_t points = 0;
    for (size_t i = 0; i < n; i++)
        if (is_point(&rows[i])) {
            axes_widen(&a, rows[i].intensity, rows[i].gflop_s);
            points++;
        }
    if (!points || a.x1 - a.x0 > 40 || a.y1 - a.y0 > 40)
        return;
    vp_buf_printf(p->b,
                  "<div class=\"scroll\"><svg class=\"roof\" viewBox=\"0 0 %d %d\" role=\"img\" "
                  "aria-label=\"Roofline of %s: see the table below\">",
                  WIDTH, HEIGHT, of);
    put_grid(p, &a);
    double left = fmax(a.x0, a.y0 - log10(gb_s));
    vp_buf_printf(p->b, "<path class=\"line\" d=\"M%.1f %.1fL%.1f %.1fH%d\"/>", at_x(&a, left),
                  at_y(&a, left + log10(gb_s)), at_x(&a, log10(ridge)), at_y(&a, log10(peak)),
                  WIDTH - 10);
    for (size_t i = 0; i < n; i++)
        if (is_point(&rows[i]))
            put_point(p, &a, &rows[i], rows[0].time_ps);
    html_puts(p, "</svg></div>\n");
}

static const vp_mfu *first_peaks(const page *p)
{
    for (size_t i = 0; i < p->r->device_count; i++) {
        const vp_mfu *m = &p->r->devices[i].mfu;
        if (is_shown_mfu_device(p, i) && m->peak_gflops > 0 && m->bandwidth_mb_s > 0)
            return m;
    }
    return NULL;
}

static int html_put_roofs(page *p)
{
    VP_CLEANUP(vp_free_ptr) roof_row *ops = NULL;
    VP_CLEANUP(vp_free_ptr) roof_row *scopes = NULL;
    size_t op_count, scope_count;
    const vp_mfu *m = first_peaks(p);
    tbl t;
    VP_TRY(roof_rows_of_ops(&ops, &op_count, p->r, &p->v, POINTS_MAX));
    VP_TRY(roof_rows_of_scopes(&scopes, &scope_count, p->r, ROWS_MAX));
    if (m)
        put_roof(p, m, "ops", ops, op_count);
    tbl_roofs(&t, p->r, &p->v, ops, op_count);
    t.most = ROWS_MAX;
    if (op_count)
        html_titled_table(p, &t);
    if (m)
        put_roof(p, m, "scopes", scopes, scope_count);
    tbl_roofs(&t, p->r, &p->v, scopes, scope_count);
    t.title = "Roofline by scope";
    t.has &= ~(unsigned)TBL_DEVICES;
    if (scope_count)
        html_titled_table(p, &t);
    tbl_cells_of_scopes(&t, p->r, &p->v, scopes, scope_count);
    if (scope_count && result_has_peak(p->r))
        html_titled_table(p, &t);
    return p->b->status;
}

int html_mfu(page *p)
{
    size_t shown = 0;
    html_section(p, "mfu", "MFU breakdown");
    rep_put_mean_mfu(p->b, p->r, "<p class=\"note\">", "</p>\n");
    html_puts(p, "<ul class=\"devices\">\n");
    for (size_t i = 0; i < p->r->device_count; i++)
        if (is_shown_mfu_device(p, i) && shown++ < DEVICES_MAX)
            html_put_device_mfu(p, i);
    html_puts(p, "</ul>\n");
    if (shown > DEVICES_MAX)
        vp_buf_printf(p->b, "<p class=\"note\">… %zu more devices</p>\n", shown - DEVICES_MAX);
    VP_TRY(html_put_roofs(p));
    html_section_end(p);
    return p->b->status;
}
