/* What is said of memory wherever it is shown. The caller owns what is made. */
#ifndef VP_REPORT_MEMORY_WORDS_H
#define VP_REPORT_MEMORY_WORDS_H

#include "include/view_profile.h"
#include "trace/base/buf.h"

/* Into `of` the report with no findings but those that fired and say what bytes could be spared,
 * most bytes first. *rows: theirs, to be freed by vp_free. */
int rep_memory_findings(vp_report *of, vp_finding **rows, const vp_report *r);
/* "All 3 programs that ran: at least 1.2 GiB, …" of r->memory_programs[i]; false: of a single
 * program there is nothing to say. */
bool rep_put_programs(vp_buf *b, const vp_report *r, size_t i);

#endif
