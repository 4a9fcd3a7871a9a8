/* A report and its findings as CSV. */
#ifndef VP_REPORT_CSV_H
#define VP_REPORT_CSV_H

#include "include/view_profile.h"
#include "trace/base/buf.h"

int rep_csv(vp_buf *b, const vp_report *r, const vp_view *v);
int rep_findings_csv(vp_buf *b, const vp_report *r); /* one row a rule */
/* One row per buffer that is live at the peak of a program's plan. */
int rep_memory_csv(vp_buf *b, const vp_report *r, const vp_view *v);

#endif
