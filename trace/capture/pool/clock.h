/* The recording's clock: the processor's counter if its rate is constant and the kernel itself uses
 * it, else CLOCK_MONOTONIC. Private to the recorder. Nothing is allocated and nothing fails. */
#ifndef VP_CAPTURE_CLOCK_H
#define VP_CAPTURE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/vpcap/vpcap_layout.h"

/* True if vp__ticks reads the processor's counter. Decided once. */
bool clock_is_processor(void);
/* For tests, before any other call: treat the processor's counter as unreliable. */
extern bool clock_is_plain;
/* Takes the first reading for clock_rate, so that work done before clock_rate is called shortens
 * its wait. */
void clock_begin(void);
/* Ticks per second, accurate to 1e-5: measured over 1 ms by the first caller. */
uint64_t clock_rate(void);
/* Reads all clocks at one instant: the narrowest of `tries` readings. Async-signal-safe. */
void clock_pair(vpcap_pair *out, unsigned tries);
uint64_t clock_ticks(void);

#endif
