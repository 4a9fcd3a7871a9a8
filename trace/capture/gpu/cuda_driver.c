#include "trace/capture/gpu/cuda_driver.h"

#include <dlfcn.h>
#include <string.h>

#include "trace/base/system/library.h"

/* The driver's functions, by the names in current versions. They return 0 for success. */
typedef struct driver {
    int (*device_count)(int *count);
    int (*device_get)(int *device, int ordinal);
    int (*primary_state)(int device, unsigned *flags, int *active);
    int (*primary_retain)(void **context, int device);
    int (*primary_release)(int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*current_device)(int *device);
    cuda_calls calls;
} driver;

static const char *stand_in;

void cuda_use_library(const char *path)
{
    stand_in = path;
}

static bool take_cuda_symbols(driver *d, void *lib)
{
    const vp_symbol table[] = {{&d->device_count, "cuDeviceGetCount", false},
                               {&d->device_get, "cuDeviceGet", false},
                               {&d->primary_state, "cuDevicePrimaryCtxGetState", false},
                               {&d->primary_retain, "cuDevicePrimaryCtxRetain", false},
                               {&d->primary_release, "cuDevicePrimaryCtxRelease_v2", false},
                               {&d->push, "cuCtxPushCurrent_v2", false},
                               {&d->pop, "cuCtxPopCurrent_v2", false},
                               {&d->current_device, "cuCtxGetDevice", false},
                               {&d->calls.memory, "cuMemGetInfo_v2", false},
                               {&d->calls.synchronize, "cuCtxSynchronize", false}};
    return !vp_take_symbols(lib, table, sizeof table / sizeof *table);
}

/* Retaining a primary context that does not exist would create it and allocate memory, so only
 * active ones are visited. */
static void visit_primary(const driver *d, int device, int ordinal, cuda_context_fn *fn, void *ctx)
{
    unsigned flags = 0;
    int active = 0;
    void *context = NULL, *popped = NULL;
    if (d->primary_state(device, &flags, &active) != 0 || !active ||
        d->primary_retain(&context, device) != 0)
        return;
    if (d->push(context) == 0) {
        fn(ctx, &d->calls, ordinal);
        d->pop(&popped);
    }
    d->primary_release(device);
}

static void visit_all(const driver *d, cuda_context_fn *fn, void *ctx)
{
    int count = 0, current = -1, device;
    if (d->device_count(&count) != 0) /* the driver is not initialized */
        return;
    bool has_current = d->current_device(&current) == 0;
    for (int i = 0; i < count; i++) {
        if (d->device_get(&device, i) != 0)
            continue;
        if (has_current && device == current)
            fn(ctx, &d->calls, i);
        visit_primary(d, device, i, fn, ctx);
    }
}

void cuda_each_context(cuda_context_fn *fn, void *ctx)
{
    driver d;
    const char *name = stand_in ? stand_in : "libcuda.so.1";
    void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL | (stand_in ? 0 : RTLD_NOLOAD));
    if (lib && take_cuda_symbols(&d, lib))
        visit_all(&d, fn, ctx);
    if (lib)
        dlclose(lib);
}
