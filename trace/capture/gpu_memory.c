#include "trace/capture/gpu_memory.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* The driver's functions by the names of their present versions; 0 is success. */
typedef struct driver {
    int (*device_count)(int *count);
    int (*device_get)(int *device, int ordinal);
    int (*primary_state)(int device, unsigned *flags, int *active);
    int (*primary_retain)(void **context, int device);
    int (*primary_release)(int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*current_device)(int *device);
    int (*info)(size_t *free_bytes, size_t *total);
} driver;

static const char *stand_in;

void gpu_memory_use_library(const char *path)
{
    stand_in = path;
}

static bool take_symbols(driver *d, void *lib)
{
    const struct {
        void *slot;
        const char *name;
    } table[] = {{&d->device_count, "cuDeviceGetCount"},
                 {&d->device_get, "cuDeviceGet"},
                 {&d->primary_state, "cuDevicePrimaryCtxGetState"},
                 {&d->primary_retain, "cuDevicePrimaryCtxRetain"},
                 {&d->primary_release, "cuDevicePrimaryCtxRelease_v2"},
                 {&d->push, "cuCtxPushCurrent_v2"},
                 {&d->pop, "cuCtxPopCurrent_v2"},
                 {&d->current_device, "cuCtxGetDevice"},
                 {&d->info, "cuMemGetInfo_v2"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        void *symbol = dlsym(lib, table[i].name);
        if (!symbol)
            return false;
        memcpy(table[i].slot, &symbol, sizeof symbol);
    }
    return true;
}

static bool read_current(const driver *d, gpu_memory *out)
{
    size_t free_bytes = 0, total = 0;
    if (d->info(&free_bytes, &total) != 0 || !total || free_bytes > total)
        return false;
    *out = (gpu_memory){true, total, free_bytes};
    return true;
}

/* Retaining a context that nobody has made yet would make it, and take memory for it. */
static bool read_primary(const driver *d, int device, gpu_memory *out)
{
    unsigned flags = 0;
    int active = 0;
    void *context = NULL, *popped = NULL;
    if (d->primary_state(device, &flags, &active) != 0 || !active ||
        d->primary_retain(&context, device) != 0)
        return false;
    bool ok = d->push(context) == 0;
    if (ok) {
        ok = read_current(d, out);
        d->pop(&popped);
    }
    d->primary_release(device);
    return ok;
}

static unsigned read_all(const driver *d, gpu_memory *devices)
{
    int count = 0, current = -1;
    unsigned filled = 0;
    if (d->device_count(&count) != 0) /* nobody has initialised the driver */
        return 0;
    bool has_current = d->current_device(&current) == 0;
    for (int i = 0; i < count && i < (int)GPU_MEMORY_DEVICES_MAX; i++) {
        int device;
        if (d->device_get(&device, i) != 0)
            continue;
        bool ok = has_current && device == current ? read_current(d, &devices[i])
                                                   : read_primary(d, device, &devices[i]);
        filled += ok;
    }
    return filled;
}

unsigned gpu_memory_read(gpu_memory devices[GPU_MEMORY_DEVICES_MAX])
{
    driver d;
    const char *name = stand_in ? stand_in : "libcuda.so.1";
    void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL | (stand_in ? 0 : RTLD_NOLOAD));
    unsigned filled = lib && take_symbols(&d, lib) ? read_all(&d, devices) : 0;
    if (lib)
        dlclose(lib);
    return filled;
}
