/* Clocks of devices: pairs of device ticks and recording ticks, and conversion of device times by
 * interpolation between the pairs. Ticks are integers throughout; a rate in Hz is used only until
 * there are two pairs. Clocks live as long as the process. VP_ECLOCK: times that cannot be
 * converted.
 *
 * A span on a device clock is converted when it is recorded, with the pairs known at that time. The
 * image contains only ticks of the recording. So readers need not know other clocks, spans of a
 * killed process are correct, and a ring cannot lose a needed pair. The cost: a span recorded
 * before the clock's second pair is converted with a less exact rate. */
#ifndef VP_CAPTURE_DEVICE_CLOCK_H
#define VP_CAPTURE_DEVICE_CLOCK_H

#include <stdint.h>

/* Pairs kept per clock. When it is full, every second pair is dropped: the rest is twice as far
 * apart and always includes the first and the last pair. */
#define DEVICE_PAIRS_MAX 256u

typedef struct device_pair {
    uint64_t device, host; /* ticks of the device and of vp_now at the same instant */
} device_pair;

/* A clock. Initialize to zero except for hz_q20. Pairs ascend in both clocks. */
typedef struct device_clock {
    uint64_t hz_q20; /* ticks per second, in fixed point with 20 binary places */
    device_pair pairs[DEVICE_PAIRS_MAX];
    uint32_t count;
} device_clock;

/* Adds a pair. VP_ECLOCK: one of the clocks went backwards since the last pair; nothing changes. A
 * pair with the same device tick as the last one is ignored: 0. */
int device_clock_add_pair(device_clock *c, device_pair p);
/* Converts `device` to host ticks. Between two pairs it interpolates linearly. Before the first and
 * after the last pair it uses the rate between these two; with a single pair, hz_q20 (host_hz is
 * the rate of vp_now). The result never decreases when `device` increases. VP_ECLOCK: no pair, or
 * the result is out of range. */
int device_clock_at(uint64_t *host, const device_clock *c, uint64_t device, uint64_t host_hz);

/* Converts a span from ticks of a clock of vp_clock_add to ticks of the recording. Fails like
 * device_clock_at. */
int device_clock_place(uint32_t clock, uint64_t *start, uint64_t *end);

#endif
