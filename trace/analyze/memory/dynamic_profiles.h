/* Memory profiles of one program at several times (pprof, "memory.prof"): growth from each to the
 * next. Rows go into the report. */
#ifndef VP_ANALYZE_DYNAMIC_PROFILES_H
#define VP_ANALYZE_DYNAMIC_PROFILES_H

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/read/pprof/pprof.h"

/* Fills the leaks of the row that the last of n profiles gives a device (NULL: without one). v: by
 * time. A step is what lies between two of them; what becomes less in any is none. */
int mem_profile_growth(vp_memory *m, vp_arena *arena, pp_profile *const *v, size_t n,
                       const char *device);

/* What to call a holder. */
int mem_profile_holder(const char **out, vp_arena *arena, const pp_holder *h);

#endif
