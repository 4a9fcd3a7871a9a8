/* Draws the neighborhood of an op in its program as SVG, with HLO text. */
#ifndef VP_REPORT_HTML_GRAPH_H
#define VP_REPORT_HTML_GRAPH_H

#include "trace/report/html/html_parts.h"

/* A section; nothing without a graph. */
void html_graph(page *p, const op_graph *g);

#endif
