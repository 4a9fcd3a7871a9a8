/* Writes a flame graph as SVG without scripts or style attributes. Each frame is an <svg> element.
 * It contains its label once per width class, each truncated to fit; the style sheet shows the one
 * for the current width. */
#ifndef VP_REPORT_FLAME_SVG_H
#define VP_REPORT_FLAME_SVG_H

#include "trace/base/buf.h"
#include "trace/report/flame/flame_layout.h"

/* How frames look; each function adds what is safe in HTML. */
typedef struct flame_look {
    void *ctx;
    /* One of the CSS classes of the style sheet's rects. */
    const char *(*css_class)(void *ctx, const flame_box *box);
    void (*put_name)(vp_buf *b, void *ctx, const flame_box *box);
    void (*put_title)(vp_buf *b, void *ctx, const flame_box *box); /* its tooltip */
} flame_look;

/* label: HTML, what a screen reader says in place of the picture. Returns b's status. */
int flame_svg(vp_buf *b, const flame_layout *l, const flame_look *look, const char *label);

#endif
