/* State shared by mem.c, which counts, and mem_errors.c, which explains failures. They are separate
 * files because recording an error allocates memory, so mem.c cannot depend on errors. */
#ifndef VP_BASE_MEM_IMPL_H
#define VP_BASE_MEM_IMPL_H

#include "trace/base/mem.h"

int64_t vp_mem_ceiling(void); /* bytes that the process may use; 0: no limit */
/* This thread's budget, or NULL. */
const vp_mem_budget *vp_mem_budget_here(void);

#endif
