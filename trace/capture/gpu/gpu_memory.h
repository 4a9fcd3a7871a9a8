/* The memory of devices as the CUDA driver tells it, where the process has loaded the driver
 * (libcuda.so.1) and has a context: nothing is loaded, started or kept for this. Only this room and
 * tests include it; nothing is owned. */
#ifndef VP_CAPTURE_GPU_MEMORY_H
#define VP_CAPTURE_GPU_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define GPU_MEMORY_DEVICES_MAX 64u

typedef struct gpu_memory {
    bool known;
    uint64_t total, free; /* bytes */
} gpu_memory;

/* Fills in the devices that it knows of, and leaves the others as they are. Returns how many it
 * filled in. */
unsigned gpu_memory_read(gpu_memory devices[GPU_MEMORY_DEVICES_MAX]);

#endif
