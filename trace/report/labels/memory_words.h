/* Texts about memory that several formats share. The caller owns the output. */
#ifndef VP_REPORT_MEMORY_WORDS_H
#define VP_REPORT_MEMORY_WORDS_H

#include "include/view_profile.h"
#include "trace/base/buf.h"

/* Copies the report to `of` with only the findings that fired and have bytes as impact, largest
 * first. *rows: their array, freed by the caller with vp_free. */
int rep_memory_findings(vp_report *of, vp_finding **rows, const vp_report *r);
/* Appends "All 3 executed programs: at least 1.2 GiB, …" for r->memory_programs[i]; returns false
 * without output for a single program. */
bool rep_put_programs(vp_buf *b, const vp_report *r, size_t i);

#endif
