/* Writes a report for the terminal into a buffer of the caller. */
#ifndef VP_REPORT_TEXT_H
#define VP_REPORT_TEXT_H

#include "include/view_profile.h"
#include "trace/base/buf.h"

int rep_text(vp_buf *b, const vp_report *r, const vp_view *v);      /* `top`: header and table */
int rep_text_full(vp_buf *b, const vp_report *r, const vp_view *v); /* `report`: everything */
/* `memory`: planned memory, each peak with its holders, and allocators. */
int rep_text_memory(vp_buf *b, const vp_report *r, const vp_view *v);
/* `findings`: causes and advice; rules that fired first, then the explained ones, then the rest
 * briefly. */
int rep_findings_text(vp_buf *b, const vp_report *r, const vp_view *v);

#endif
