#include "trace/analyze/device/any_device.h"

#include <pthread.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

struct any_device {
    pthread_mutex_t lock; /* of the following, until it is made; afterwards it is constant */
    bool has_busy, has_idle;
    spans busy, idle;
};

int any_device_new(analysis *a)
{
    a->any_device = vp_calloc(1, sizeof *a->any_device);
    VP_NEED(a->any_device);
    pthread_mutex_init(&a->any_device->lock, NULL);
    return 0;
}

void any_device_free(analysis *a)
{
    if (!a->any_device)
        return;
    spans_free(&a->any_device->busy);
    spans_free(&a->any_device->idle);
    pthread_mutex_destroy(&a->any_device->lock);
    vp_free(a->any_device);
    a->any_device = NULL;
}

static int make_busy(const analysis *a)
{
    struct any_device *x = a->any_device;
    if (x->has_busy)
        return 0;
    x->busy.n = 0; /* parts made before the failure */
    VP_TRY(sweep_any_busy(&x->busy, a));
    x->has_busy = true;
    return 0;
}

static int make_idle(const analysis *a)
{
    struct any_device *x = a->any_device;
    const spans *busy = &x->busy;
    int64_t at = -VP_TIME_MAX_PS;
    if (x->has_idle)
        return 0;
    VP_TRY(make_busy(a));
    x->idle.n = 0;
    for (size_t i = 0; i <= busy->n; i++) {
        int64_t to = i < busy->n ? busy->v[i].start : VP_TIME_MAX_PS;
        VP_TRY(spans_add(&x->idle, at, to));
        at = i < busy->n ? busy->v[i].end : to;
    }
    x->has_idle = true;
    return 0;
}

static int ask_any_device(const analysis *a, int (*make)(const analysis *))
{
    pthread_mutex_lock(&a->any_device->lock);
    int rc = make(a);
    pthread_mutex_unlock(&a->any_device->lock);
    return rc;
}

int any_device_busy(const spans **out, const analysis *a)
{
    *out = &a->any_device->busy;
    return ask_any_device(a, make_busy);
}

int any_device_idle(const spans **out, const analysis *a)
{
    *out = &a->any_device->idle;
    return ask_any_device(a, make_idle);
}
