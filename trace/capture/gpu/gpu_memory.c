#include "trace/capture/gpu/gpu_memory.h"

#include "trace/capture/gpu/cuda_driver.h"

typedef struct reading {
    gpu_memory *devices;
    unsigned filled;
    bool seen[GPU_MEMORY_DEVICES_MAX];
} reading;

static void read_device_memory(void *ctx, const cuda_calls *calls, int ordinal)
{
    reading *r = ctx;
    size_t free_bytes = 0, total = 0;
    if (ordinal >= (int)GPU_MEMORY_DEVICES_MAX || r->seen[ordinal] ||
        calls->memory(&free_bytes, &total) != 0 || !total || free_bytes > total)
        return;
    r->devices[ordinal] = (gpu_memory){true, total, free_bytes};
    r->seen[ordinal] = true;
    r->filled++;
}

unsigned gpu_memory_read(gpu_memory devices[GPU_MEMORY_DEVICES_MAX])
{
    reading r = {.devices = devices};
    cuda_each_context(read_device_memory, &r);
    return r.filled;
}
