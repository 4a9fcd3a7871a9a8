/* What changes to a program of PyTorch would save, in a profile without devices
 * (docs/reference/metrics.md#pytorch-programs): loops of small operators, double precision, changes
 * of the layout, gradients that are not used, an optimizer that loops over parameters. */
#ifndef VP_ANALYZE_TORCH_COSTS_H
#define VP_ANALYZE_TORCH_COSTS_H

#include "trace/analyze/result/analysis.h"

/* Fills h->torch_costs, largest saving first. Reads the steps. VP_ENOMEM, VP_ELIMIT. */
int torch_costs_collect(analysis *a);

#endif
