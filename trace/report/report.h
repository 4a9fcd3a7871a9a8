/* A report → text, json, csv, html. These only print what analyze/ put into vp_report
 * (include/view_profile.h); no figure is computed here but shares and rates of its integers.
 * This is the door: routes and the CLI include it, files of report/ what they need of it.
 */
#ifndef VP_REPORT_REPORT_H
#define VP_REPORT_REPORT_H

#include "trace/report/compare/compare_formats.h"
#include "trace/report/data/csv.h"
#include "trace/report/data/documents.h"
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
