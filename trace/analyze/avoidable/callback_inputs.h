/* Values of a program that only its callbacks read (docs/reference/metrics.md#callbacks). */
#ifndef VP_ANALYZE_CALLBACK_INPUTS_H
#define VP_ANALYZE_CALLBACK_INPUTS_H

#include "trace/read/hlo/hlo_program.h"

/* *out: by instruction, 1 if all users of its result are callbacks without a result, or such
 * instructions themselves. NULL if the program has no such callback. The caller frees it.
 * VP_ENOMEM. */
int callback_inputs_new(uint8_t **out, const hlo_program *p);

#endif
