/* CUDA's driver, if the process has loaded it (libcuda.so.1): this module loads, starts and owns
 * nothing. CUPTI's forced flush does not wait for kernels, so every context in use is synchronized
 * first. Private to this module and tests. */
#ifndef VP_CAPTURE_CUDA_DRIVER_H
#define VP_CAPTURE_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

/* Functions for the current context; 0 is success. */
typedef struct cuda_calls {
    int (*memory)(size_t *free_bytes, size_t *total);
    int (*synchronize)(void);
} cuda_calls;
typedef void cuda_context_fn(void *ctx, const cuda_calls *calls, int ordinal);

/* Calls fn for the calling thread's current context and for the existing primary context of every
 * device, while each is current. A device may occur twice. */
void cuda_each_context(cuda_context_fn *fn, void *ctx);

/* For tests: loads a substitute for the driver. NULL: the driver. */
void cuda_use_library(const char *path);

#endif
