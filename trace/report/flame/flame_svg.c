#include "trace/report/flame/flame_svg.h"

#include "trace/report/words/numbers.h"

/* In hundredths of the picture's em. */
#define ROW_HEIGHT 160
/* In hundredths of a percent: thinner frames have no text, and on a phone those that are narrow. */
#define TEXT_LEAST 120
#define NARROW 800

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

static void put_frame(vp_buf *b, const flame_box *box, const flame_look *look)
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
    if (box->width >= TEXT_LEAST) {
        vp_buf_puts(b, box->width < NARROW ? "<text class=\"narrow\"" : "<text");
        vp_buf_puts(b, " x=\"0.4em\" y=\"1.14em\">");
        look->put_name(b, look->ctx, box);
        vp_buf_puts(b, "</text>");
    }
    vp_buf_puts(b, "</svg>\n");
}

int flame_svg(vp_buf *b, const flame_layout *l, const flame_look *look, const char *label)
{
    vp_buf_puts(b, "<svg class=\"flame\" role=\"img\" aria-label=\"");
    vp_buf_puts(b, label);
    vp_buf_puts(b, "\"");
    put_em(b, "height", (int64_t)l->rows * ROW_HEIGHT);
    vp_buf_puts(b, ">\n");
    for (size_t i = 0; i < l->n; i++)
        put_frame(b, &l->v[i], look);
    return vp_buf_puts(b, "</svg>\n");
}
