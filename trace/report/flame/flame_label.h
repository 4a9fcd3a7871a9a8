/* Number of characters of a frame's label that fit a width, for the monospace font of the SVG. Pure
 * functions. */
#ifndef VP_REPORT_FLAME_LABEL_H
#define VP_REPORT_FLAME_LABEL_H

#include "trace/base/str.h"

/* How many bytes of a label, which is text in HTML, stand in so many columns: html.n where all of
 * it does; else so much that an ellipsis has room behind it, whole characters only, and a number
 * with its unit or nothing of it; 0 where that is too little to say anything. */
size_t flame_label_fit(vp_str html, size_t columns);

#endif
