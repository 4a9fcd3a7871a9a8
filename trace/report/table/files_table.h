/* Table of the files that a report was read from. Ownership: see tbl.h. */
#ifndef VP_REPORT_FILES_TABLE_H
#define VP_REPORT_FILES_TABLE_H

#include "trace/report/table/tbl.h"

enum { FILES_PATH, FILES_KIND, FILES_STATE }; /* its own cells on a page */

void tbl_files(tbl *t, const vp_report *r, const vp_view *v);

#endif
