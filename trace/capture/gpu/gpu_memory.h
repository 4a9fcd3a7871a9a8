/* Memory of devices, from the CUDA driver, if the process has loaded it (libcuda.so.1) and has a
 * context: this module loads, starts and owns nothing. Private to this module and tests. */
#ifndef VP_CAPTURE_GPU_MEMORY_H
#define VP_CAPTURE_GPU_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define GPU_MEMORY_DEVICES_MAX 64u

typedef struct gpu_memory {
    bool known;
    uint64_t total, free; /* bytes */
} gpu_memory;

/* Sets the devices that are known, and leaves the others unchanged. Returns their number. */
unsigned gpu_memory_read(gpu_memory devices[GPU_MEMORY_DEVICES_MAX]);

#endif
