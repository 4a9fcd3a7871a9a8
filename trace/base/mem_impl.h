/* What mem.c shows to mem_errors.c: the one counts, the other explains. They are two files because
 * recording an error takes memory itself, so mem.c may not know of errors. Nobody else includes
 * this. */
#ifndef VP_BASE_MEM_IMPL_H
#define VP_BASE_MEM_IMPL_H

#include "trace/base/mem.h"

int64_t vp_mem_ceiling(void); /* bytes that the process may have in use; 0: no bound */
/* This thread's budget; NULL: none. */
const vp_mem_budget *vp_mem_budget_here(void);

#endif
