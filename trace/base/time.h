/* Conversion of civil time to Unix time (runs are named by the local time of their capture), and
 * the monotonic clocks for waits and ages. Nothing is allocated. */
#ifndef VP_BASE_TIME_H
#define VP_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

/* Year 1970..9999, month and day from 1, 24-hour clock. */
typedef struct vp_civil {
    int year, month, day, hour, minute, second;
} vp_civil;

/* Converts a local time in this process's time zone (TZ) to Unix ns. false if the date does not
 * exist or is out of range. */
bool vp_time_from_local(const vp_civil *t, int64_t *unix_ns);
/* Parses the time at the start of a run's name: "2026_01_11_21_26_41" (XLA), "2020-03-26_22-11-29"
 * or "2020-06-11_23:50:01" (older TensorFlow). It must be followed by a non-digit or the end. */
bool vp_time_from_run_name(vp_str name, int64_t *unix_ns);
/* Parses a Unix time in s, ms, us or ns without a unit, recognized by its digits. From 2001 to
 * 2286, seconds have 10 digits, ms 13, us 16, ns 19. false for any other length. */
bool vp_time_from_epoch_digits(vp_str digits, int64_t *unix_ns);

/* CLOCK_MONOTONIC, which never steps. The coarse clock lags a few ms and costs less. */
int64_t vp_now_ns(void);
int64_t vp_now_ms(void);
int64_t vp_now_coarse_ms(void);

#endif
