/* CUDA's driver, where the process has loaded it (libcuda.so.1): nothing is loaded, started or kept
 * for this. Only this room and tests include it.
 *
 * A forced flush of CUPTI waits for no kernel, so every context in use is synchronised first. */
#ifndef VP_CAPTURE_CUDA_DRIVER_H
#define VP_CAPTURE_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

/* Of the context that is current: 0 is success. */
typedef struct cuda_calls {
    int (*memory)(size_t *free_bytes, size_t *total);
    int (*synchronize)(void);
} cuda_calls;
typedef void cuda_context_fn(void *ctx, const cuda_calls *calls, int ordinal);

/* Calls fn for the calling thread's current context and for the primary one of every device that
 * has one, each being current meanwhile; a device may come twice. */
void cuda_each_context(cuda_context_fn *fn, void *ctx);

/* For tests: a library in the driver's place, which is loaded. NULL: the driver. */
void cuda_use_library(const char *path);

#endif
