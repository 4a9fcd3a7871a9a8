/* Curves and bars as SVG. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/labels/numbers.h"

/* A curve is drawn on 1000 by 100 units, which the style sheet scales. */
#define CURVE_WIDTH 1000
#define CURVE_HEIGHT 100

static int64_t scale_to_chart_units(int64_t v, int64_t from, int64_t span, int64_t units)
{
    return span <= 0 ? 0 : (int64_t)(((__int128)v - from) * units / span);
}

/* Unknown values interrupt the line. */
void html_curve(page *p, const char *css_class, const int64_t *x, const int64_t *y, size_t n,
                int64_t top)
{
    bool open = false;
    for (size_t i = 0; i < n; i++)
        top = y[i] > top ? y[i] : top;
    if (n < 2 || !top)
        return;
    int64_t from = x ? x[0] : 0, span = x ? x[n - 1] - x[0] : (int64_t)n - 1;
    vp_buf_printf(p->b,
                  "<svg class=\"%s\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
                  "aria-hidden=\"true\">",
                  css_class, CURVE_WIDTH, CURVE_HEIGHT);
    for (size_t i = 0; i < n; i++) {
        if (y[i] < 0) {
            html_puts(p, open ? "\"/>" : "");
            open = false;
            continue;
        }
        html_puts(p, open ? " " : "<polyline points=\"");
        vp_buf_printf(
            p->b, "%lld,%lld",
            (long long)scale_to_chart_units(x ? x[i] : (int64_t)i, from, span, CURVE_WIDTH),
            (long long)(CURVE_HEIGHT - scale_to_chart_units(y[i], 0, top, CURVE_HEIGHT)));
        open = true;
    }
    html_puts(p, open ? "\"/></svg>" : "</svg>");
}

void html_block(page *p, const char *css_class, html_box box)
{
    vp_buf_printf(p->b, "<rect class=\"%s\" x=\"", css_class);
    rep_put_hundredths(p->b, box.x);
    html_puts(p, "%\" y=\"");
    rep_put_hundredths(p->b, box.y);
    html_puts(p, "%\" width=\"");
    rep_put_hundredths(p->b, box.width);
    html_puts(p, "%\" height=\"");
    rep_put_hundredths(p->b, box.height);
    html_puts(p, "%\"/>");
}
