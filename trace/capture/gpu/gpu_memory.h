/* What the CUDA driver says of its devices' memory, where the process has it loaded already
 * (libcuda.so.1) and a context on them: nothing is loaded, started or kept for this. Only this room
 * and tests include it; nothing is owned. */
#ifndef VP_CAPTURE_GPU_MEMORY_H
#define VP_CAPTURE_GPU_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define GPU_MEMORY_DEVICES_MAX 64u

typedef struct gpu_memory {
    bool known;
    uint64_t total, free; /* bytes */
} gpu_memory;

/* Fills the devices that it can tell of and leaves the others as they are. How many it filled. */
unsigned gpu_memory_read(gpu_memory devices[GPU_MEMORY_DEVICES_MAX]);

#endif
