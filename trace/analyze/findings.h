/* What is wrong and what to do about it: rules over a finished report, of one host or of many, made
 * here or read back from JSON. A rule sees nothing but the report. analyze/ and report/ include
 * this, for docs the table of rules. */
#ifndef VP_ANALYZE_FINDINGS_H
#define VP_ANALYZE_FINDINGS_H

#include "include/view_profile.h"

/* Fills r->findings (every rule, in rank order); strings and arrays go to the report's arena.
 * Replaces what was there. */
int findings_make(vp_report *r);

#endif
