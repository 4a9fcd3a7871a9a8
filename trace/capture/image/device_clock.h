/* Clocks that devices have of their own: pairs of their ticks with the recording's, and where a
 * time of the device lies between them. Ticks are whole numbers throughout; a rate in Hz is only
 * needed until there are two pairs. Files of this room and tests include it.
 *
 * A span of a device with a clock of its own is placed when it is recorded, by the pairs of ticks
 * that are known then, and the image holds the recording's ticks only: nothing that reads it needs
 * to know of other clocks, a killed process's spans lie where they should, and a ring cannot lose
 * the pair that its spans need. What it costs is that a span which comes before its second pair is
 * placed by the rate so far. */
#ifndef VP_CAPTURE_DEVICE_CLOCK_H
#define VP_CAPTURE_DEVICE_CLOCK_H

#include <stdint.h>

/* Pairs of one clock that are kept. When there are more, every second of them goes: those that
 * stay are twice as far apart, and the first and the last are always among them. */
#define DEVICE_PAIRS_MAX 256u

typedef struct device_pair {
    uint64_t device, host; /* ticks of the one, and of vp_now, at the same instant */
} device_pair;

/* A clock; all zero but hz_q20 at first. Pairs rise in both. */
typedef struct device_clock {
    uint64_t hz_q20; /* ticks a second, with 20 binary places */
    device_pair pairs[DEVICE_PAIRS_MAX];
    uint32_t count;
} device_clock;

/* Adds a pair. VP_ECLOCK: one of the two has gone backwards since the last pair; nothing has
 * changed then. A pair in the same tick of the device as the last one says nothing more: 0. */
int device_clock_add_pair(device_clock *c, device_pair p);
/* The host's ticks at `device`. Between two pairs on the line through them; before the first and
 * after the last at the rate between these two, or at hz (host_hz: of vp_now) while there is but
 * one. Never falls when `device` rises. VP_ECLOCK: there is no pair, or no such time. */
int device_clock_at(uint64_t *host, const device_clock *c, uint64_t device, uint64_t host_hz);

/* A span in ticks of a clock of vp_clock_add becomes one in ticks of the recording. As above. */
int device_clock_place(uint32_t clock, uint64_t *start, uint64_t *end);

#endif
