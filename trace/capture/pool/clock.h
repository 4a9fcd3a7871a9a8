/* The recording's clock: the processor's counter where it is constant and the kernel itself keeps
 * time by it, else CLOCK_MONOTONIC. Private to the recorder; owns nothing. */
#ifndef VP_CAPTURE_CLOCK_H
#define VP_CAPTURE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/vpcap/vpcap_layout.h"

/* Whether vp__ticks reads the processor's counter. Decided once. */
bool clock_is_processor(void);
/* Tests, before all else: as if the processor's counter could not be trusted. */
extern bool clock_is_plain;
/* The first reading for clock_rate, so that what is done until that is asked is no waiting. */
void clock_begin(void);
/* Ticks a second, good to 1e-5: measured over 1 ms by whoever asks first. */
uint64_t clock_rate(void);
/* One instant on all clocks, the narrowest of `tries` readings. Signal-safe. */
void clock_pair(vpcap_pair *out, unsigned tries);
uint64_t clock_ticks(void);

#endif
