/* Data that only PyTorch's profiles contain: work of optimizers, and operators that autograd
 * records without a backward pass (docs/reference/metrics.md#pytorch-programs). */
#ifndef VP_ANALYZE_TORCH_PROGRAM_H
#define VP_ANALYZE_TORCH_PROGRAM_H

#include "trace/analyze/result/analysis.h"

/* Fills h->torch. VP_ENOMEM. */
int torch_program_collect(analysis *a);

#endif
