#include "trace/capture/pool/device_clock.h"

#include "include/view_profile_capture.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/capture/pool/clock.h"
#include "trace/capture/pool/tables.h"

#define CLOCKS_MAX 64u
/* Limits of a device clock's rate: slower clocks are useless for kernels, faster ones do not
 * exist. */
#define HZ_MIN 1e3
#define HZ_MAX 1e12

/* Ratio of host ticks to device ticks. */
typedef struct rate {
    uint64_t host, device; /* never 0 */
} rate;

/* Guarded by the lock of the tables, which is held around fork. */
static device_clock *clocks[CLOCKS_MAX];
static uint32_t clock_count;

/* ---- One clock ---- */

static void thin_out(device_clock *c)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i += 2)
        c->pairs[kept++] = c->pairs[i];
    c->count = kept;
}

int device_clock_add_pair(device_clock *c, device_pair p)
{
    if (c->count) {
        const device_pair *last = &c->pairs[c->count - 1];
        if (p.device < last->device || p.host < last->host)
            return vp_fail(VP_ECLOCK,
                           "the %s clock went backwards; a device that restarted needs a new clock",
                           p.device < last->device ? "device's" : "host's");
        if (p.device == last->device)
            return 0;
    }
    if (c->count == DEVICE_PAIRS_MAX)
        thin_out(c);
    c->pairs[c->count++] = p;
    return 0;
}

/* ticks * r, rounded towards 0. The product of two 64-bit factors needs 128 bits. */
static int scale_ticks(uint64_t *out, uint64_t ticks, rate r)
{
    unsigned __int128 v = (unsigned __int128)ticks * r.host / r.device;
    if (v > INT64_MAX)
        return vp_fail(VP_ECLOCK, "a time is too far from the clock's sync pairs");
    *out = (uint64_t)v;
    return 0;
}

/* The rate before the first pair and after the last one. */
static rate device_clock_rate(const device_clock *c, uint64_t host_hz)
{
    const device_pair *a = &c->pairs[0], *b = &c->pairs[c->count - 1];
    if (c->count > 1)
        return (rate){b->host - a->host, b->device - a->device};
    return (rate){host_hz << 20, c->hz_q20};
}

/* The last pair that is not later than `device`; it must exist. */
static uint32_t pair_before(const device_clock *c, uint64_t device)
{
    uint32_t low = 0, high = c->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (c->pairs[middle].device <= device)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int device_clock_at(uint64_t *host, const device_clock *c, uint64_t device, uint64_t host_hz)
{
    uint64_t off = 0;
    if (!c->count)
        return vp_fail(VP_ECLOCK, "this device's clock needs a vp_clock_sync first");
    if (device < c->pairs[0].device) {
        VP_TRY(scale_ticks(&off, c->pairs[0].device - device, device_clock_rate(c, host_hz)));
        if (off > c->pairs[0].host)
            return vp_fail(VP_ECLOCK, "a time is too far from the clock's sync pairs");
        *host = c->pairs[0].host - off;
        return 0;
    }
    uint32_t i = pair_before(c, device);
    const device_pair *a = &c->pairs[i], *b = a + 1;
    rate r = i + 1 == c->count ? device_clock_rate(c, host_hz)
                               : (rate){b->host - a->host, b->device - a->device};
    VP_TRY(scale_ticks(&off, device - a->device, r));
    *host = a->host + off;
    return 0;
}

/* ---- All clocks ---- */

vp_clock_id vp_clock_add(double hz)
{
    uint32_t id = 0;
    if (!(hz >= HZ_MIN && hz <= HZ_MAX)) {
        vp_fail(VP_EARG, "a device clock must have 1e3 to 1e12 ticks per second");
        return 0;
    }
    cap_tables_lock();
    device_clock *c = clock_count < CLOCKS_MAX ? vp_calloc(1, sizeof *c) : NULL;
    if (c) {
        c->hz_q20 = (uint64_t)(hz * 1048576);
        clocks[clock_count++] = c;
        id = clock_count;
    } else {
        vp_fail(clock_count < CLOCKS_MAX ? VP_ENOMEM : VP_ELIMIT, "more than %u clocks",
                clock_count);
    }
    cap_tables_unlock();
    return id;
}

int vp_clock_sync(vp_clock_id clock, uint64_t device_ticks, uint64_t host)
{
    if (host > INT64_MAX)
        return vp_fail(VP_EARG, "the host time must come from vp_now");
    cap_tables_lock();
    int rc = clock && clock <= clock_count
                 ? device_clock_add_pair(clocks[clock - 1], (device_pair){device_ticks, host})
                 : vp_fail(VP_EARG, "no clock %u", clock);
    cap_tables_unlock();
    return rc;
}

int vp_device_clock(vp_device_id device, vp_clock_id clock)
{
    cap_tables_lock();
    int rc = clock <= clock_count ? cap_tables_set_clock(device, clock)
                                  : vp_fail(VP_EARG, "no clock %u", clock);
    cap_tables_unlock();
    return rc;
}

int device_clock_place(uint32_t clock, uint64_t *start, uint64_t *end)
{
    uint64_t from = 0, to = 0, host_hz = clock_rate();
    cap_tables_lock();
    const device_clock *c = clocks[clock - 1];
    int rc = device_clock_at(&from, c, *start, host_hz);
    if (rc == 0)
        rc = device_clock_at(&to, c, *end, host_hz);
    cap_tables_unlock();
    VP_TRY(rc);
    *start = from;
    *end = to;
    return 0;
}
