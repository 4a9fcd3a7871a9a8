#include "trace/capture/pool/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "include/view_profile_capture.h"
#include "trace/base/str.h"

#define CALIBRATION_NS INT64_C(1000000)
#define CALIBRATION_TRIES 64
/* An older first reading may precede a suspend of the machine, during which the clocks diverge. */
#define CALIBRATION_OLD_NS INT64_C(100000000)

static pthread_once_t decided = PTHREAD_ONCE_INIT, begun = PTHREAD_ONCE_INIT,
                      measured = PTHREAD_ONCE_INIT;
static vpcap_pair first;
static bool processor;
bool clock_is_plain;
static uint64_t rate;

static int64_t ns_on(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t vp__clock_ns(void)
{
    return (uint64_t)ns_on(CLOCK_MONOTONIC);
}

#if defined(__x86_64__) || defined(__i386__)
/* Linux monitors the counters of all processors, and changes its clock source if they differ. */
static bool kernel_trusts_tsc(void)
{
    char name[16] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, name, sizeof name - 1);
    if (fd >= 0)
        close(fd);
    return n >= 3 && VP_SAME(name, "tsc") && (n == 3 || name[3] == '\n');
}

static bool is_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
}

static void decide_on_tsc(void)
{
    processor = is_invariant() && kernel_trusts_tsc();
}
#elif defined(__aarch64__)
static void decide_on_tsc(void)
{
    processor = true; /* the architecture guarantees a constant rate */
}
#else
static void decide_on_tsc(void)
{
    processor = false;
}
#endif

static void choose_clock(void)
{
    if (!clock_is_plain)
        decide_on_tsc();
}

bool clock_is_processor(void)
{
    pthread_once(&decided, choose_clock);
    return processor;
}

uint64_t clock_ticks(void)
{
    return vp__ticks(clock_is_processor());
}

void clock_pair(vpcap_pair *out, unsigned tries)
{
    uint64_t narrowest = UINT64_MAX;
    for (unsigned i = 0; i < tries; i++) {
        uint64_t before = clock_ticks();
        int64_t mono = ns_on(CLOCK_MONOTONIC), real = ns_on(CLOCK_REALTIME);
        uint64_t width = clock_ticks() - before;
        if (width >= narrowest)
            continue;
        narrowest = width;
        *out = (vpcap_pair){before + width / 2, mono, real};
    }
}

static void take_first_clock_pair(void)
{
    if (clock_is_processor())
        clock_pair(&first, CALIBRATION_TRIES);
}

void clock_begin(void)
{
    pthread_once(&begun, take_first_clock_pair);
}

static void measure_clock_rate(void)
{
    vpcap_pair a, b = {0, 0, 0};
    rate = 1000000000;
    if (!clock_is_processor())
        return;
    clock_begin();
    a = first;
    if (ns_on(CLOCK_MONOTONIC) - a.mono_ns > CALIBRATION_OLD_NS)
        clock_pair(&a, CALIBRATION_TRIES);
    while (ns_on(CLOCK_MONOTONIC) - a.mono_ns < CALIBRATION_NS)
        continue;
    clock_pair(&b, CALIBRATION_TRIES);
    if (b.mono_ns > a.mono_ns && b.ticks > a.ticks)
        rate = (uint64_t)((unsigned __int128)(b.ticks - a.ticks) * 1000000000u /
                          (uint64_t)(b.mono_ns - a.mono_ns));
    else
        processor = false; /* the counter does not advance */
}

uint64_t clock_rate(void)
{
    pthread_once(&measured, measure_clock_rate);
    return rate;
}
