/* What mem.c, which counts, has for mem_errors.c, which explains: errors need memory themselves, so
 * the ground may not know of them. Nobody else includes this. */
#ifndef VP_BASE_MEM_IMPL_H
#define VP_BASE_MEM_IMPL_H

#include "trace/base/mem.h"

int64_t vp_mem_ceiling(void); /* bytes that the process may have in use; 0: no bound */
/* This thread's; NULL without. */
const vp_mem_budget *vp_mem_budget_here(void);

#endif
