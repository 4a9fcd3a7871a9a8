/* The pieces of the text formats that `top` and `report` share. Only trace/report/ includes this.
 */
#ifndef VP_REPORT_TEXT_PARTS_H
#define VP_REPORT_TEXT_PARTS_H

#include "trace/report/grid.h"
#include "trace/report/parts.h"

size_t text_width(const vp_view *v);
/* Header lines and op table of one device. */
int text_ops(vp_buf *b, const vp_report *r, const vp_view *v, size_t device);
/* The op tables of the devices that the view shows, and a line for each other one. */
int text_tables(vp_buf *b, const vp_report *r, const vp_view *v);
/* Window and its four parts, a row a device that the filters let through; skip[i] leaves out. */
int text_breakdown(vp_buf *b, const vp_report *r, const vp_view *v, const bool *skip, size_t limit);
/* Quality entries from `least` up, at most `limit`, and a line on those not shown. */
int text_quality(vp_buf *b, const vp_report *r, const vp_view *v, vp_severity least, size_t limit);
/* Findings that fired, in full, and the other rules in short. */
void text_findings(vp_buf *b, const vp_report *r, const vp_view *v);

#endif
