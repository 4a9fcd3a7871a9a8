/* Ranks of a job in reports: the recorded ones, the missing ones, and whether several reports are
 * of one job (docs/reference/ranks.md#reports). */
#ifndef VP_ANALYZE_RANKS_H
#define VP_ANALYZE_RANKS_H

#include "trace/analyze/merge/merge_parts.h"
#include "trace/model/catalog/catalog.h"

/* The code of the quality entry for missing ranks, which merging recomputes. */
#define RANKS_MISSING_CODE "missing-ranks"

/* Adds the rank of a host, which wrote this file, to its report. */
int ranks_of_host(vp_report *part, vp_arena *arena, const cat_session *s, const cat_file *f);
/* Merges the ranks of the parts. Missing ones become a quality entry, for which space must be
 * reserved. */
int ranks_merge(merging *m);

#endif
