#include "trace/capture/gpu/cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/thread.h"
#include "trace/capture/gpu/cuda_driver.h"
#include "trace/capture/gpu/cupti_decode.h"
#include "trace/capture/gpu/cupti_library.h"

/* Buffers for CUPTI: 4 MiB hold 20,000 kernels. From 12.3 on it takes one per thread, and returns
 * it when it is full or flushed; threads beyond the first LARGE get smaller ones. Pages become
 * memory only when they are written. */
#define LARGE 32u
#define LARGE_BYTES ((size_t)4 << 20)
#define BUFFERS 1024u
#define SMALL_BYTES ((size_t)256 << 10)
#define MEMORY_BYTES (LARGE * LARGE_BYTES + (BUFFERS - LARGE) * SMALL_BYTES)
/* A buffer for when all others are in use. It is returned unread: its content is lost, and counted
 * as records of this minimum size. Giving CUPTI no buffer crashes it before 12.9, and a buffer
 * shared by two threads would be written by both. */
#define SCRATCH_BYTES ((size_t)64 << 10)
#define RECORD_BYTES_MIN 40u

enum { FREE, LENT, FULL };

typedef struct buffer {
    _Atomic int state;
    size_t valid; /* bytes; if FULL */
} buffer;

/* Kinds of activity. Without a needed one there is no useful data. */
static const struct {
    int kind;
    bool needed;
    const char *what;
} kinds[] = {{CUPTI_KIND_CONCURRENT_KERNEL, true, "kernels"},
             {CUPTI_KIND_MEMCPY, true, "copies"},
             {CUPTI_KIND_MEMSET, false, "memory sets"},
             {CUPTI_KIND_MEMCPY2, false, "copies between devices"},
             {CUPTI_KIND_RUNTIME, false, "calls of the runtime"},
             {CUPTI_KIND_DRIVER, false, "calls of the driver"},
             {CUPTI_KIND_OVERHEAD, false, "overhead"}};
#define KINDS (sizeof kinds / sizeof *kinds)

/* The only tracer of this process. CUPTI keeps pointers to its callbacks and buffers permanently,
 * so they are never freed. The lock serializes start and stop; callbacks never take it, because
 * CUPTI may hold its own lock while it calls them. */
static struct {
    pthread_mutex_t lock;
    const char *path; /* NULL: search for it */
    bool loaded, has_timestamps;
    cupti_library lib;
    uint8_t *memory; /* for all buffers */
    buffer buffers[BUFFERS];
    uint8_t scratch[SCRATCH_BYTES] __attribute__((aligned(8))); /* used when no other is free */
    _Atomic int64_t unix_offset; /* CLOCK_MONOTONIC + this = Unix ns */
    _Atomic uint64_t lost;
    _Atomic bool listening; /* records that arrive now belong to a recording */
    sem_t work;
    /* State of one recording. */
    bool started; /* by process `pid` */
    pid_t pid;
    void *subscriber;
    pthread_t worker;
    _Atomic bool ending;
    pthread_mutex_t decoding; /* held while the worker decodes into `activity` */
    gpu_activity *activity;
    int64_t from;
    cupti_clock clock;
} g = {.lock = PTHREAD_MUTEX_INITIALIZER, .decoding = PTHREAD_MUTEX_INITIALIZER};

void cupti_use_library(const char *path)
{
    g.path = path;
}

void cupti_find(char *out, size_t cap)
{
    cupti_library_find(out, cap);
}

/* ---- Clocks --------------------------------------------------------------------------------- */

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Unix time by a clock that does not jump during a recording. */
static int64_t monotonic_unix_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC) + atomic_load_explicit(&g.unix_offset, memory_order_relaxed);
}

static uint64_t cupti_timestamp(void)
{
    return (uint64_t)monotonic_unix_ns();
}

static void set_unix_offset(void)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < 16; i++) {
        int64_t before = clock_ns(CLOCK_MONOTONIC);
        int64_t now = clock_ns(CLOCK_REALTIME);
        int64_t after = clock_ns(CLOCK_MONOTONIC);
        if (after - before < best) {
            best = after - before;
            atomic_store(&g.unix_offset, now - (before + (after - before) / 2));
        }
    }
}

/* Reads both clocks at one moment; false: CUPTI's clock is unknown. */
static bool read_clocks(int64_t *device_ns, int64_t *unix_ns)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < 16; i++) {
        uint64_t device = 0;
        int64_t before = monotonic_unix_ns();
        if (g.lib.timestamp(&device) != CUPTI_OK || device > INT64_MAX)
            return false;
        int64_t after = monotonic_unix_ns();
        if (after - before < best) {
            best = after - before;
            *device_ns = (int64_t)device;
            *unix_ns = before + (after - before) / 2;
        }
    }
    return true;
}

/* ---- Buffers: callbacks of CUPTI, on any thread, possibly concurrent ---- */

static uint8_t *memory_of(size_t i, size_t *bytes)
{
    *bytes = i < LARGE ? LARGE_BYTES : SMALL_BYTES;
    return g.memory +
           (i < LARGE ? i * LARGE_BYTES : LARGE * LARGE_BYTES + (i - LARGE) * SMALL_BYTES);
}

static size_t buffer_number(const uint8_t *p)
{
    size_t at = (size_t)(p - g.memory);
    return at < LARGE * LARGE_BYTES ? at / LARGE_BYTES
                                    : LARGE + (at - LARGE * LARGE_BYTES) / SMALL_BYTES;
}

static uint8_t *map_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void before_exit(void);

/* Handlers that are registered later run earlier at exit(). This registers after the loading, after
 * the start, and after the first work of the driver. So ours run before the handlers that CUPTI and
 * the driver have registered until then. */
static void register_exit(atomic_bool *done)
{
    if (!atomic_exchange(done, true))
        atexit(before_exit);
}

static void on_buffer_requested(uint8_t **out, size_t *size, size_t *max_records)
{
    static atomic_bool done;
    register_exit(&done);
    *max_records = 0; /* as many as fit */
    for (size_t i = 0; i < BUFFERS; i++) {
        int expected = FREE;
        if (atomic_compare_exchange_strong(&g.buffers[i].state, &expected, LENT)) {
            *out = memory_of(i, size);
            return;
        }
    }
    uint8_t *own = map_memory(SCRATCH_BYTES);
    *out = own ? own : g.scratch;
    *size = SCRATCH_BYTES;
}

static void on_buffer_completed(void *context, uint32_t stream, uint8_t *p, size_t size,
                                size_t valid)
{
    (void)context;
    (void)stream;
    (void)size;
    if (p >= g.memory && p < g.memory + MEMORY_BYTES) {
        size_t i = buffer_number(p), bytes;
        memory_of(i, &bytes);
        g.buffers[i].valid = valid < bytes ? valid : bytes;
        bool wanted = atomic_load(&g.listening);
        atomic_store(&g.buffers[i].state, wanted ? FULL : FREE);
        if (wanted)
            sem_post(&g.work);
    } else {
        atomic_fetch_add(&g.lost, valid / RECORD_BYTES_MIN);
        if (p != g.scratch)
            munmap(p, SCRATCH_BYTES);
    }
}

static const char *call_name(bool runtime, uint32_t id)
{
    const char *name = NULL;
    if (!g.lib.call_name || g.lib.call_name(runtime ? CUPTI_DOMAIN_RUNTIME : CUPTI_DOMAIN_DRIVER,
                                            id, &name) != CUPTI_OK)
        return NULL;
    return name;
}

static void decode_full(void)
{
    for (size_t i = 0; i < BUFFERS; i++) {
        buffer *b = &g.buffers[i];
        if (atomic_load(&b->state) != FULL)
            continue;
        size_t bytes;
        uint8_t *p = memory_of(i, &bytes);
        cupti_decode(g.activity, p, b->valid, &g.clock, g.from, g.lib.next_record, call_name);
        atomic_store(&b->state, FREE);
    }
}

static void *decoder_thread(void *arg)
{
    (void)arg;
    bool last;
    do {
        while (sem_wait(&g.work) < 0)
            ;
        last = atomic_load(&g.ending);
        pthread_mutex_lock(&g.decoding);
        decode_full();
        pthread_mutex_unlock(&g.decoding);
    } while (!last);
    return NULL;
}

/* ---- Start ---------------------------------------------------------------------------------- */

static int fail_cupti_refused(int result, const char *what)
{
    const char *text = NULL;
    if (g.lib.result_string)
        g.lib.result_string(result, &text);
    if (!text)
        text = "no reason given";
    switch (result) {
    case CUPTI_OTHER_SUBSCRIBER:
    case CUPTI_OTHER_PROFILER_API:
        return vp_fail(VP_EGPU_BUSY,
                       "another profiler in this process traces the GPU; stop it first (%s)", text);
    case CUPTI_NO_PRIVILEGES:
    case CUPTI_VIRTUALIZED_NO_PRIVILEGES:
        return vp_fail(VP_EPERM,
                       "the driver restricts GPU tracing to administrators; load nvidia with "
                       "NVreg_RestrictProfilingToAdminUsers=0 (%s)",
                       text);
    case CUPTI_VIRTUALIZED:
        return vp_fail(VP_EGPU_UNAVAILABLE, "CUPTI does not trace this virtual GPU (%s)", text);
    case CUPTI_NOT_INITIALIZED:
    case CUPTI_UNKNOWN:
        return vp_fail(VP_EGPU_UNAVAILABLE, "CUPTI cannot %s; there may be no NVIDIA driver (%s)",
                       what, text);
    default:
        return vp_fail(VP_EGPU_UNAVAILABLE, "CUPTI cannot %s (%d: %s)", what, result, text);
    }
}

static void ignore_callback(void *user, int domain, uint32_t id, const void *data)
{
    (void)user;
    (void)domain;
    (void)id;
    (void)data;
}

/* Done once per process. */
static int load_cupti(void)
{
    if (g.loaded)
        return 0;
    VP_TRY(cupti_library_load(&g.lib, g.path));
    if (!g.memory && !(g.memory = map_memory(MEMORY_BYTES)))
        return vp_no_memory();
    if (sem_init(&g.work, 0, 0) < 0)
        return vp_fail(VP_EIO, "cannot create a semaphore");
    static atomic_bool done;
    register_exit(&done);
    g.loaded = true;
    return 0;
}

/* A process has one subscriber, who owns CUPTI. Registering callbacks without subscribing would
 * take another profiler's buffers away. */
static int subscribe_cupti(void)
{
    if (!g.lib.subscribe || !g.lib.unsubscribe)
        return 0;
    int result = g.lib.subscribe(&g.subscriber, ignore_callback, NULL);
    if (result == CUPTI_OK)
        return 0;
    g.subscriber = NULL;
    return fail_cupti_refused(result, "be subscribed to");
}

static void unsubscribe_cupti(void)
{
    if (g.subscriber)
        g.lib.unsubscribe(g.subscriber);
    g.subscriber = NULL;
}

/* Kernel tracing stays enabled, as in XLA, because disabling it hangs in some drivers (NVIDIA's bug
 * 5350647). Later records are dropped. */
static void disable_all(void)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].kind != CUPTI_KIND_CONCURRENT_KERNEL)
            g.lib.disable(kinds[i].kind);
}

/* Enables all kinds. Missing kinds that are not needed are listed in `why`. */
static int enable_all(gpu_activity *a)
{
    for (size_t i = 0; i < KINDS; i++) {
        int result = g.lib.enable(kinds[i].kind);
        if (result == CUPTI_OK)
            continue;
        if (kinds[i].needed)
            return fail_cupti_refused(result, "trace kernels and copies");
        size_t n = strlen(a->why);
        snprintf(a->why + n, sizeof a->why - n, "%s%s",
                 !n                             ? "not traced: "
                 : strstr(a->why, "not traced") ? ", "
                                                : "; not traced: ",
                 kinds[i].what);
    }
    return 0;
}

static int enable_activity_kinds(gpu_activity *a)
{
    int result = g.lib.register_callbacks(on_buffer_requested, on_buffer_completed);
    if (result != CUPTI_OK)
        return fail_cupti_refused(result, "register buffers");
    if (g.lib.thread_ids)
        g.lib.thread_ids(CUPTI_THREAD_IDS_OF_SYSTEM);
    g.has_timestamps =
        g.lib.register_timestamp && g.lib.register_timestamp(cupti_timestamp) == CUPTI_OK;
    g.clock = (cupti_clock){0, 0, 0, 0};
    if (!g.has_timestamps && !read_clocks(&g.clock.device0, &g.clock.unix0))
        return vp_fail(VP_EGPU_UNAVAILABLE, "CUPTI returns no time");
    g.clock.device1 = g.clock.device0;
    g.clock.unix1 = g.clock.unix0;
    g.from = monotonic_unix_ns();
    if (g.lib.newer)
        snprintf(a->why, sizeof a->why, "unsupported CUPTI version %u", g.lib.newer);
    size_t before = 0; /* excludes records that CUPTI dropped before this recording */
    g.lib.dropped(NULL, 0, &before);
    atomic_store(&g.lost, 0);
    atomic_store(&g.listening, true);
    int rc = enable_all(a);
    if (rc < 0)
        disable_all();
    return rc;
}

static int start_worker(void)
{
    atomic_store(&g.ending, false);
    return vp_thread_start(&g.worker, decoder_thread, NULL);
}

static void end_worker(void)
{
    atomic_store(&g.listening, false);
    atomic_store(&g.ending, true);
    sem_post(&g.work);
    pthread_join(g.worker, NULL);
}

bool cupti_is_used(void)
{
    if (g.path)
        return true;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver)
        dlclose(driver);
    return driver;
}

static int start_tracing(vp_gpu how)
{
    if (how == VP_GPU_AUTO && !cupti_is_used())
        return vp_fail(VP_EGPU_UNAVAILABLE, "the CUDA driver (libcuda.so.1) was not loaded when "
                                            "the recording started");
    VP_TRY(load_cupti());
    set_unix_offset();
    VP_TRY(subscribe_cupti());
    int rc = start_worker();
    if (rc == 0) {
        rc = enable_activity_kinds(g.activity);
        if (rc < 0)
            end_worker();
    }
    static atomic_bool done;
    if (rc < 0)
        unsubscribe_cupti();
    else
        register_exit(&done);
    return rc;
}

/* In a forked child: if the parent could not use CUPTI, drops the reason, which does not apply to
 * the child. */
static void drop_parents_reason(void)
{
    if (!g.pid || g.pid == getpid() || g.loaded)
        return;
    gpu_activity_free(g.activity);
    g.activity = NULL;
    g.pid = 0;
}

int cupti_start(vp_gpu how, bool ring)
{
    if (how == VP_GPU_OFF || (how == CAP_GPU_IF_USED && !cupti_is_used()))
        return 0;
    pthread_mutex_lock(&g.lock);
    int rc = 0;
    drop_parents_reason();
    if (g.pid && g.pid != getpid())
        rc = vp_fail(VP_EGPU_UNAVAILABLE, "CUDA does not work in a forked child");
    else if (g.activity)
        rc = vp_fail(VP_EGPU_BUSY, "the GPU is already being traced");
    else
        rc = gpu_activity_new(&g.activity, ring);
    if (rc == 0) {
        g.pid = getpid();
        rc = start_tracing(how);
        g.started = rc == 0;
        if (rc < 0) {
            g.activity->status = rc;
            snprintf(g.activity->why, sizeof g.activity->why, "%s", vp_error_last()->message);
        }
    }
    pthread_mutex_unlock(&g.lock);
    return rc;
}

void cupti_caveat(char *out, size_t cap)
{
    pthread_mutex_lock(&g.lock);
    snprintf(out, cap, "%s", g.started && g.activity ? g.activity->why : "");
    pthread_mutex_unlock(&g.lock);
}

/* ---- Stop ----------------------------------------------------------------------------------- */

/* Times were converted with the clocks' offset at the start. With the offset at the end, the drift
 * is corrected, too. */
static void correct_drift(gpu_activity *a)
{
    cupti_clock c = g.clock;
    if (g.has_timestamps || !read_clocks(&c.device1, &c.unix1))
        return;
    c.device1 += c.unix0 - c.device0;
    c.device0 = c.unix0;
    for (size_t i = 0; i < a->count; i++) {
        gpu_record *r = &a->records[i];
        r->start_ns = cupti_clock_unix(&c, (uint64_t)r->start_ns);
        r->end_ns = cupti_clock_unix(&c, (uint64_t)r->end_ns);
    }
}

/* A flush does not wait for kernels, and a running kernel has no end time. */
static void synchronize_context(void *ctx, const cuda_calls *calls, int ordinal)
{
    (void)ctx;
    (void)ordinal;
    calls->synchronize();
}

/* Adds the records that CUPTI dropped since the last call. */
static void count_dropped(gpu_activity *a)
{
    size_t dropped = 0;
    if (g.lib.dropped(NULL, 0, &dropped) == CUPTI_OK)
        a->dropped += dropped;
    a->dropped += atomic_exchange(&g.lost, 0);
}

static gpu_activity *copy_so_far(int64_t from_ns)
{
    gpu_activity *a = NULL;
    g.lib.flush(CUPTI_FLUSH_FINISHED);
    pthread_mutex_lock(&g.decoding);
    decode_full();
    count_dropped(g.activity);
    int rc = gpu_activity_copy(&a, g.activity, from_ns);
    pthread_mutex_unlock(&g.decoding);
    if (rc < 0)
        return NULL;
    correct_drift(a);
    gpu_activity_finish(a);
    return a;
}

gpu_activity *cupti_past(int64_t from_ns)
{
    pthread_mutex_lock(&g.lock);
    gpu_activity *a = NULL;
    if (g.pid == getpid() && g.started)
        a = copy_so_far(from_ns);
    else if (g.pid == getpid() && g.activity)
        gpu_activity_copy(&a, g.activity, from_ns);
    pthread_mutex_unlock(&g.lock);
    return a;
}

/* The caller holds the lock. Records stay for cupti_stop. */
static void end_tracing(void)
{
    if (g.pid != getpid() || !g.started)
        return;
    cuda_each_context(synchronize_context, NULL);
    disable_all();
    g.lib.flush(CUPTI_FLUSH_FORCED);
    end_worker();
    count_dropped(g.activity);
    unsubscribe_cupti();
    correct_drift(g.activity);
    gpu_activity_finish(g.activity);
    g.started = false;
}

/* Not in a forked child, because another thread of the parent may have held the lock. */
static void before_exit(void)
{
    if (g.pid != getpid())
        return;
    pthread_mutex_lock(&g.lock);
    end_tracing();
    pthread_mutex_unlock(&g.lock);
}

gpu_activity *cupti_stop(void)
{
    pthread_mutex_lock(&g.lock);
    gpu_activity *a = g.pid == getpid() ? g.activity : NULL;
    end_tracing();
    if (a)
        g.activity = NULL;
    pthread_mutex_unlock(&g.lock);
    return a;
}
