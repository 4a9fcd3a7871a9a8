#include "trace/report/flame/flame_svg.h"

#include "trace/base/limits.h"
#include "trace/report/flame/flame_label.h"
#include "trace/report/labels/numbers.h"

/* In hundredths of the picture's em. */
#define ROW_HEIGHT 160
/* From the left edge of a frame to its text, and the sum of both margins. */
#define TEXT_X 40
#define TEXT_ROOM 60
/* The widest of the fonts of .flame text in report.css is SF Mono. */
#define COLUMN 62

/* Minimum widths of a picture, in hundredths of its em, for each label variant: report.css, which
 * selects the variant, has the same list. These are widths of common screens, and some between
 * them. */
static const int64_t widths[] = {2100, 2400, 2650, 3300, 4400, 5500, 7400, 9300, 10450, 12650};
#define WIDTHS (sizeof widths / sizeof *widths)

static void put_em(vp_buf *b, const char *name, int64_t hundredths)
{
    vp_buf_printf(b, " %s=\"", name);
    rep_put_hundredths(b, hundredths);
    vp_buf_puts(b, "em\"");
}

static void put_percent(vp_buf *b, const char *name, int64_t hundredths)
{
    vp_buf_printf(b, " %s=\"", name);
    rep_put_hundredths(b, hundredths);
    vp_buf_puts(b, "%\"");
}

static size_t columns_at(const flame_box *box, size_t width)
{
    int64_t room = box->width * widths[width] / REP_PERCENT_ALL - TEXT_ROOM;
    return room > 0 ? (size_t)(room / COLUMN) : 0;
}

/* The variant of a label between two widths of the picture. */
static void svg_put_label_text(vp_buf *b, vp_str label, size_t n, size_t from, size_t until)
{
    vp_buf_puts(b, "<text");
    if (until < WIDTHS)
        vp_buf_printf(b, " class=\"f%zu u%zu\"", from, until);
    else if (from)
        vp_buf_printf(b, " class=\"f%zu\"", from);
    put_em(b, "x", TEXT_X);
    vp_buf_puts(b, " y=\"1.14em\">");
    vp_buf_str(b, vp_str_head(label, n));
    vp_buf_puts(b, n < label.n ? "…</text>" : "</text>");
}

/* One label per width of the picture; equal ones are written once. */
static void svg_put_label(vp_buf *b, const flame_box *box, vp_str label)
{
    for (size_t from = 0, until; from < WIDTHS; from = until) {
        size_t n = flame_label_fit(label, columns_at(box, from));
        for (until = from + 1; until < WIDTHS; until++)
            if (flame_label_fit(label, columns_at(box, until)) != n)
                break;
        if (n)
            svg_put_label_text(b, label, n, from, until);
    }
}

static void svg_put_frame(vp_buf *b, vp_buf *label, const flame_box *box, const flame_look *look)
{
    vp_buf_puts(b, "<svg");
    put_percent(b, "x", box->x);
    put_em(b, "y", (int64_t)box->row * ROW_HEIGHT);
    put_percent(b, "width", box->width);
    put_em(b, "height", ROW_HEIGHT);
    vp_buf_puts(b, "><title>");
    look->put_title(b, look->ctx, box);
    vp_buf_printf(b, "</title><rect class=\"%s\" width=\"100%%\" height=\"100%%\"/>",
                  look->css_class(look->ctx, box));
    label->n = 0;
    look->put_name(label, look->ctx, box);
    if (label->status >= 0)
        svg_put_label(b, box, vp_buf_view(label));
    vp_buf_puts(b, "</svg>\n");
}

int flame_svg(vp_buf *b, const flame_layout *l, const flame_look *look, const char *label)
{
    vp_buf name;
    vp_buf_init(&name, VP_REPORT_BYTES_MAX);
    vp_buf_puts(b, "<div class=\"flames\"><svg class=\"flame\" role=\"img\" aria-label=\"");
    vp_buf_puts(b, label);
    vp_buf_puts(b, "\"");
    put_em(b, "height", (int64_t)l->rows * ROW_HEIGHT);
    vp_buf_puts(b, ">\n");
    for (size_t i = 0; i < l->n; i++)
        svg_put_frame(b, &name, &l->v[i], look);
    vp_buf_free_piece(b, &name);
    return vp_buf_puts(b, "</svg></div>\n");
}
