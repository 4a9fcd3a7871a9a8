/* Stands in for NVIDIA's libcuda.so.1: four devices, of which the first has a current context, the
 * second a primary one, the third none, and the fourth tells nonsense. */
#include <stdbool.h>
#include <stddef.h>

#define FAKE __attribute__((visibility("default")))
#define GIB ((size_t)1 << 30)

FAKE int fake_cuda_made, fake_cuda_retained, fake_cuda_used; /* contexts; GiB in use */
FAKE bool fake_cuda_off;
FAKE int fake_cuda_synced; /* contexts, each once as a bit */
FAKE void (*fake_cuda_on_sync)(void);
static int pushed = -1;

FAKE int cuDeviceGetCount(int *count)
{
    *count = 4;
    return fake_cuda_off ? 3 : 0;
}

FAKE int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal + 100;
    return 0;
}

FAKE int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    *flags = 0;
    *active = device == 101 || device == 103;
    return 0;
}

FAKE int cuDevicePrimaryCtxRetain(void **context, int device)
{
    static int contexts[4];
    fake_cuda_made += device != 101 && device != 103;
    fake_cuda_retained++;
    *context = &contexts[device - 100];
    contexts[device - 100] = device;
    return 0;
}

FAKE int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    fake_cuda_retained--;
    return 0;
}

FAKE int cuCtxPushCurrent_v2(void *context)
{
    pushed = *(int *)context;
    return 0;
}

FAKE int cuCtxPopCurrent_v2(void **context)
{
    *context = NULL;
    pushed = -1;
    return 0;
}

FAKE int cuCtxGetDevice(int *device)
{
    *device = 100;
    return 0;
}

FAKE int cuCtxSynchronize(void)
{
    fake_cuda_synced |= 1 << (pushed < 0 ? 0 : pushed - 100);
    if (fake_cuda_on_sync)
        fake_cuda_on_sync();
    return 0;
}

FAKE int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    *total = pushed == 101 ? 80 * GIB : 16 * GIB;
    *free_bytes = pushed == 103 ? 17 * GIB : *total - (size_t)fake_cuda_used * GIB;
    return 0;
}
