/* Clocks that devices have of their own: pairs of their ticks with the recording's, and where a
 * time of the device lies between them. Ticks are whole numbers throughout; a rate in Hz is only
 * needed until there are two pairs. Files of this room and tests include it.
 *
 * A span of a device with a clock of its own is placed when it is recorded, by the pairs that are
 * known then, and the image holds the recording's ticks only. So its readers need not know of other
 * clocks, spans of a killed process lie where they should, and a ring cannot lose the pair that a
 * span needs. The price: a span that comes before the clock's second pair is placed by the rate
 * known so far. */
#ifndef VP_CAPTURE_DEVICE_CLOCK_H
#define VP_CAPTURE_DEVICE_CLOCK_H

#include <stdint.h>

/* How many pairs of one clock are kept. When there would be more, every second one goes: those that
 * stay are twice as far apart, and the first and the last are always among them. */
#define DEVICE_PAIRS_MAX 256u

typedef struct device_pair {
    uint64_t device, host; /* ticks of the one, and of vp_now, at the same instant */
} device_pair;

/* A clock, at first all zero but for hz_q20. Pairs ascend in both clocks. */
typedef struct device_clock {
    uint64_t hz_q20; /* ticks a second, with 20 binary places */
    device_pair pairs[DEVICE_PAIRS_MAX];
    uint32_t count;
} device_clock;

/* Adds a pair. VP_ECLOCK: one of the clocks has gone backwards since the last pair; then nothing
 * has changed. A pair in the same tick of the device as the last one adds nothing: 0. */
int device_clock_add_pair(device_clock *c, device_pair p);
/* The host's ticks at `device`: between two pairs, on the line through them; before the first and
 * after the last, at the rate between these two, or while there is only one, at hz (host_hz is the
 * rate of vp_now). Does not fall when `device` rises. VP_ECLOCK: there is no pair, or no such time.
 */
int device_clock_at(uint64_t *host, const device_clock *c, uint64_t device, uint64_t host_hz);

/* Turns a span in ticks of a clock of vp_clock_add into one in ticks of the recording. Returns as
 * device_clock_at. */
int device_clock_place(uint32_t clock, uint64_t *start, uint64_t *end);

#endif
