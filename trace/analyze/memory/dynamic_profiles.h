/* Memory profiles of one program at several times (pprof, "memory.prof"): growth from each to the
 * next. Rows go into the report. */
#ifndef VP_ANALYZE_DYNAMIC_PROFILES_H
#define VP_ANALYZE_DYNAMIC_PROFILES_H

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/read/pprof/pprof.h"

/* Fills the leaks of the row that the last of n profiles has for a device (NULL: without a device).
 * v: by time. A step is the time between two profiles; holders that ever shrink are no leaks. */
int mem_profile_growth(vp_memory *m, vp_arena *arena, pp_profile *const *v, size_t n,
                       const char *device);

/* The display name of a holder. */
int mem_profile_holder(const char **out, vp_arena *arena, const pp_holder *h);

#endif
