#include "trace/report/html/html_treemap.h"

#include "trace/report/labels/numbers.h"

/* Squarified (Bruls, Huizing, van Wijk 2000): rows are filled along the shorter side of the
 * remaining area, as long as that makes their tiles more square. */

/* Width of the picture divided by its height, approximately as in the style sheet. */
#define ASPECT 4.5
#define UNITS 10000.0 /* hundredths of a percent, in both directions */

typedef struct rest {
    double x, y, width, height; /* of the area that is not yet covered; the total is ASPECT by 1 */
    double area_of_byte;
} rest;

static double shorter_side(const rest *r)
{
    return r->width < r->height ? r->width : r->height;
}

/* The aspect ratio of the least square tile of a row. */
static double worst_aspect_ratio(const html_tile *t, size_t n, double sum, const rest *r)
{
    double side = shorter_side(r), thick = sum * r->area_of_byte / side, bad = 0;
    for (size_t i = 0; i<n; i += n> 1 ? n - 1 : 1) { /* the largest and the smallest */
        double length = (double)t[i].bytes * r->area_of_byte / thick;
        double ratio = length > thick ? length / thick : thick / length;
        bad = ratio > bad ? ratio : bad;
    }
    return bad;
}

static size_t row_length(const html_tile *t, size_t n, const rest *r, double *sum)
{
    size_t k = 1;
    *sum = (double)t[0].bytes;
    while (k < n) {
        double more = *sum + (double)t[k].bytes;
        if (worst_aspect_ratio(t, k + 1, more, r) > worst_aspect_ratio(t, k, *sum, r))
            break;
        *sum = more;
        k++;
    }
    return k;
}

static void svg_put_share(page *p, const char *name, double part)
{
    vp_buf_printf(p->b, " %s=\"", name);
    rep_put_hundredths(p->b, (int64_t)(part * UNITS + 0.5));
    html_puts(p, "%\"");
}

static void svg_put_tile(page *p, const html_tile *t, double x, double y, double width,
                         double height)
{
    html_puts(p, "<svg");
    svg_put_share(p, "x", x / ASPECT);
    svg_put_share(p, "y", y);
    svg_put_share(p, "width", width / ASPECT);
    svg_put_share(p, "height", height);
    html_puts(p, "><title>");
    html_text(p, t->name);
    html_puts(p, "</title><rect width=\"100%\" height=\"100%\"/>");
    if (width > 0.25 && height > 0.12) { /* minimum size for text, which is cut at its edge */
        html_puts(p, "<text x=\"6\" y=\"17\">");
        html_text(p, t->name);
        html_puts(p, "</text>");
    }
    if (width > 0.25 && height > 0.25) {
        html_puts(p, "<text x=\"6\" y=\"34\">");
        rep_put_bytes(p->b, t->bytes);
        html_puts(p, "</text>");
    }
    html_puts(p, "</svg>");
}

/* A row of k tiles along the shorter side. */
static void svg_put_tile_row(page *p, const html_tile *t, size_t k, double sum, rest *r)
{
    bool upright = r->width >= r->height;
    double side = shorter_side(r), thick = sum * r->area_of_byte / side, at = 0;
    for (size_t i = 0; i < k; i++) {
        double length = (double)t[i].bytes * r->area_of_byte / thick;
        if (upright)
            svg_put_tile(p, &t[i], r->x, r->y + at, thick, length);
        else
            svg_put_tile(p, &t[i], r->x + at, r->y, length, thick);
        at += length;
    }
    if (upright) {
        r->x += thick;
        r->width -= thick;
    } else {
        r->y += thick;
        r->height -= thick;
    }
}

void html_treemap(page *p, const html_tile *tiles, size_t n)
{
    double total = 0;
    n = n < HTML_TILES_MAX ? n : HTML_TILES_MAX;
    while (n && tiles[n - 1].bytes <= 0)
        n--;
    for (size_t i = 0; i < n; i++)
        total += (double)tiles[i].bytes;
    if (n < 2 || tiles[n - 1].bytes <= 0)
        return;
    rest r = {0, 0, ASPECT, 1, ASPECT / total};
    html_puts(p, "<svg class=\"tiles\" aria-hidden=\"true\">");
    for (size_t i = 0, k; i < n && shorter_side(&r) > 1e-4; i += k) {
        double sum;
        k = row_length(tiles + i, n - i, &r, &sum);
        svg_put_tile_row(p, tiles + i, k, sum, &r);
    }
    html_puts(p, "</svg>\n");
}
