/* Number of characters of a frame's label that fit a width, for the monospace font of the SVG. Pure
 * functions. */
#ifndef VP_REPORT_FLAME_LABEL_H
#define VP_REPORT_FLAME_LABEL_H

#include "trace/base/str.h"

/* Returns how many bytes of a label, which is HTML text, fit into the columns: html.n if all of it
 * fits; else whole characters so that an ellipsis fits after them, and never a number without its
 * unit; 0 if too few characters would remain. */
size_t flame_label_fit(vp_str html, size_t columns);

#endif
