/* Ranks of a job in reports: which are there, which are missing, and whether several reports are of
 * one job (docs/reference/ranks.md#reports). */
#ifndef VP_ANALYZE_RANKS_H
#define VP_ANALYZE_RANKS_H

#include "trace/analyze/merge/merge_parts.h"
#include "trace/model/catalog/catalog.h"

/* The code of the entry in quality about ranks that are missing. Merging remakes it. */
#define RANKS_MISSING_CODE "missing-ranks"

/* Adds the rank of a host, which wrote this file, to its report. */
int ranks_of_host(vp_report *part, vp_arena *arena, const cat_session *s, const cat_file *f);
/* Merges the ranks of the parts. Missing ones become a quality entry, for which there is room. */
int ranks_merge(merging *m);

#endif
