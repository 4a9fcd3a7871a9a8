/* Treemap as SVG: areas in proportion to values. */
#ifndef VP_REPORT_HTML_TREEMAP_H
#define VP_REPORT_HTML_TREEMAP_H

#include "trace/report/html/html_parts.h"

typedef struct html_tile {
    const char *name;
    int64_t bytes; /* <= 0: left out */
} html_tile;

#define HTML_TILES_MAX 32u

/* Draws the largest HTML_TILES_MAX values, in descending order. Hidden from screen readers, because
 * a table next to it has the same data. */
void html_treemap(page *p, const html_tile *tiles, size_t n);

#endif
