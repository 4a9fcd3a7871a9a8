/* Writes docs/findings.md from the table of rules. */
#ifndef VP_REPORT_FINDINGS_DOCS_H
#define VP_REPORT_FINDINGS_DOCS_H

#include "trace/base/buf.h"

/* docs/findings.md: every rule with its thresholds, sources, advice and caveats. */
int rep_findings_docs(vp_buf *b);

#endif
