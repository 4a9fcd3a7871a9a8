/* CUDA's driver, where the process has loaded it (libcuda.so.1): nothing is loaded, started or kept
 * for this. CUPTI's forced flush waits for no kernel, so every context in use is synchronised
 * first. Only this room and tests include it. */
#ifndef VP_CAPTURE_CUDA_DRIVER_H
#define VP_CAPTURE_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

/* Functions for the context that is current; 0 is success. */
typedef struct cuda_calls {
    int (*memory)(size_t *free_bytes, size_t *total);
    int (*synchronize)(void);
} cuda_calls;
typedef void cuda_context_fn(void *ctx, const cuda_calls *calls, int ordinal);

/* Calls fn for the calling thread's current context and for the primary one of every device that
 * has one, while each is current. A device may come twice. */
void cuda_each_context(cuda_context_fn *fn, void *ctx);

/* For tests: loads a library that stands in for the driver. NULL: the driver. */
void cuda_use_library(const char *path);

#endif
