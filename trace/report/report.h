/* Public header of report/: writes a report as text, JSON, CSV or HTML. Writers print values of
 * vp_report (include/view_profile.h) and compute only shares and rates. They append to a buffer of
 * the caller and fail only if it is full or out of memory. */
#ifndef VP_REPORT_REPORT_H
#define VP_REPORT_REPORT_H

#include "trace/report/compare/compare_formats.h"
#include "trace/report/data/csv.h"
#include "trace/report/schema/documents.h"
#include "trace/report/data/findings_docs.h"
#include "trace/report/data/op_json.h"
#include "trace/report/data/report_json.h"
#include "trace/report/html/html.h"
#include "trace/report/list.h"
#include "trace/report/text/text.h"
#include "trace/report/labels/escape.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"

#endif
