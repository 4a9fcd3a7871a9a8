/* Both computation graphs of a comparison, and their difference, as flame graphs. */
#ifndef VP_REPORT_HTML_FLAMES_H
#define VP_REPORT_HTML_FLAMES_H

#include "trace/report/html/html_parts.h"

/* A section of the page; empty if neither report has scopes. */
int html_flames(page *p, const vp_comparison *c);

#endif
