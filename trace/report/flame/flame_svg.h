/* Writes a flame graph as SVG without scripts or style attributes. Each frame is an <svg> element.
 * It contains its label once per width class, each truncated to fit; the style sheet shows the one
 * for the current width. */
#ifndef VP_REPORT_FLAME_SVG_H
#define VP_REPORT_FLAME_SVG_H

#include "trace/base/buf.h"
#include "trace/report/flame/flame_layout.h"

/* Callbacks that write the content of frames; each must write valid, escaped HTML. */
typedef struct flame_look {
    void *ctx;
    /* One of the CSS classes for rects in the style sheet. */
    const char *(*css_class)(void *ctx, const flame_box *box);
    void (*put_name)(vp_buf *b, void *ctx, const flame_box *box);
    void (*put_title)(vp_buf *b, void *ctx, const flame_box *box); /* its tooltip */
} flame_look;

/* label: HTML, the description for screen readers. Returns the status of b. */
int flame_svg(vp_buf *b, const flame_layout *l, const flame_look *look, const char *label);

#endif
