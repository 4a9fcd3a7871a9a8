/* A libcupti.so that traces a GPU which is not there: the functions that trace/capture/cupti looks
 * up, with the behaviour that CUPTI's reference describes. */
#include "tests/unit/fake_cupti.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "tests/unit/gpu_maker.h"

#define OUT __attribute__((visibility("default")))

OUT fake_cupti_plan fake_cupti = {.version = 130000, .kernels = 3, .finished = 2};

#define HELD 1100

static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint64_t (*callback)(void);
static uint64_t enabled_at;

/* With FAKE_CUPTI_GOES it is as in a program: a first buffer is asked for when the program's CUDA
 * works, and at exit CUPTI's own objects go. A call after that ends the program, as of CUDA 13.0.
 */
static bool gone;

static void go(void)
{
    gone = true;
}

static void *ask_for_one(void *arg)
{
    uint8_t *p;
    size_t size, most;
    (void)arg;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    request(&p, &size, &most);
    complete(NULL, 0, p, size, 0);
    return NULL;
}

static void come(void)
{
    static bool there;
    pthread_t thread;
    if (there || !getenv("FAKE_CUPTI_GOES"))
        return;
    there = true;
    atexit(go);
    if (pthread_create(&thread, NULL, ask_for_one, NULL) == 0)
        pthread_detach(thread);
}

static void be_there(void)
{
    if (gone)
        abort();
}

static uint64_t own_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec) / 2;
}

OUT int cuptiGetVersion(uint32_t *version)
{
    *version = fake_cupti.version;
    return 0;
}

OUT int cuptiGetTimestamp(uint64_t *ns)
{
    *ns = callback ? callback() : own_clock();
    return 0;
}

OUT int cuptiActivityRegisterCallbacks(void *requested, void *completed)
{
    memcpy(&request, &requested, sizeof request);
    memcpy(&complete, &completed, sizeof complete);
    come();
    return 0;
}

OUT int cuptiActivityRegisterTimestampCallback(void *fn)
{
    if (fake_cupti.no_timestamp_callback) {
        callback = NULL;
        return 11;
    }
    memcpy(&callback, &fn, sizeof callback);
    return 0;
}

OUT int cuptiActivityEnable(int kind)
{
    be_there();
    int result =
        !fake_cupti.only_kind || fake_cupti.only_kind == kind ? fake_cupti.enable_result : 0;
    fake_cupti.enabled += !result;
    cuptiGetTimestamp(&enabled_at);
    return result;
}

OUT int cuptiActivityDisable(int kind)
{
    be_there();
    fake_cupti.off |= UINT64_C(1) << kind;
    fake_cupti.disabled++;
    return 0;
}

OUT int cuptiSubscribe(void **subscriber, void *fn, void *user)
{
    (void)fn;
    (void)user;
    if (fake_cupti.subscribe_result)
        return fake_cupti.subscribe_result;
    *subscriber = &fake_cupti;
    fake_cupti.subscribers++;
    return 0;
}

OUT int cuptiUnsubscribe(void *subscriber)
{
    be_there();
    fake_cupti.subscribers -= subscriber == (void *)&fake_cupti;
    return 0;
}

OUT int cuptiGetResultString(int result, const char **text)
{
    *text = result == 35 ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_OTHER";
    return 0;
}

OUT int cuptiGetCallbackName(int domain, uint32_t id, const char **name)
{
    *name = domain == 2 && id == 211 ? "cudaLaunchKernel_v7000" : NULL;
    return *name ? 0 : 1;
}

OUT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
    return gpu_next(buffer, valid, record);
}

OUT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
    (void)context;
    (void)stream;
    be_there();
    *count = fake_cupti.dropped;
    fake_cupti.dropped = 0;
    return 0;
}

/* Kernel i of 1 us starts 10 us after its call, (i + 1) * 100 us after tracing began: reading two
 * clocks is not so wrong that the first seems to have been before. */
static size_t fill(uint8_t *p, size_t size, unsigned *next, unsigned end)
{
    size_t n = 0;
    for (unsigned i = 0; *next < end && n + 208 + 40 <= size; i++) {
        if (fake_cupti.per_buffer && i == fake_cupti.per_buffer)
            break;
        bool runs = fake_cupti.running && *next >= fake_cupti.finished;
        gpu_buffer b = {.n = 0};
        uint64_t at = enabled_at + 100000 + (uint64_t)*next * 100000;
        gpu_put_call(&b, 5, 211, at, at + 5000, 1, *next + 1);
        gpu_put_kernel(&b, "_Z4workv", at + 10000, runs ? 0 : at + 11000, 0, 7, *next + 1);
        memcpy(p + n, b.bytes, b.n);
        n += b.n;
        (*next)++;
    }
    return n;
}

OUT int cuptiActivityFlushAll(uint32_t flag)
{
    unsigned *next = &fake_cupti.told;
    unsigned end = flag == 1 ? fake_cupti.kernels : fake_cupti.finished;
    static uint8_t *held[HELD];
    static size_t sizes[HELD], valid[HELD];
    size_t count = 0;
    be_there();
    fake_cupti.flushes += flag == 1;
    if (flag == 1 && fake_cupti.on_flush)
        fake_cupti.on_flush();
    while (*next < end && count < HELD) {
        size_t most = 1;
        request(&held[count], &sizes[count], &most);
        fake_cupti.buffers++;
        for (size_t i = 0; i < count; i++)
            fake_cupti.shared += held[i] == held[count];
        valid[count] = fill(held[count], sizes[count], next, end);
        if (fake_cupti.hold)
            count++;
        else
            complete(NULL, 0, held[0], sizes[0], valid[0]);
    }
    for (size_t i = 0; i < count; i++)
        complete(NULL, 0, held[i], sizes[i], valid[i]);
    return 0;
}
