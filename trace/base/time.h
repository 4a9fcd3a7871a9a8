/* Civil time to Unix time: runs are named by the local time of their capture; and the clock by
 * which waits and ages are told. Everyone may include this header; it owns nothing. */
#ifndef VP_BASE_TIME_H
#define VP_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

/* Year 1970..9999, month and day from 1, 24-hour clock. */
typedef struct vp_civil {
    int year, month, day, hour, minute, second;
} vp_civil;

/* The Unix time in ns of a local time in the zone of this process (TZ). false for a date that
 * does not exist or lies outside the range. */
bool vp_time_from_local(const vp_civil *t, int64_t *unix_ns);
/* The time that a run's name starts with: "2026_01_11_21_26_41" (XLA), "2020-03-26_22-11-29" and
 * "2020-06-11_23:50:01" (older TensorFlow), ended by the name's end or by anything but a digit. */
bool vp_time_from_run_name(vp_str name, int64_t *unix_ns);
/* A Unix time written as a bare number of s, ms, us or ns, told apart by its size: 2001 to 2286 in
 * seconds has 10 digits, in ms 13, in us 16, in ns 19. false for any other length. */
bool vp_time_from_epoch_digits(vp_str digits, int64_t *unix_ns);

/* A clock that never steps (CLOCK_MONOTONIC); the coarse one is some ms behind and costs less. */
int64_t vp_now_ns(void);
int64_t vp_now_ms(void);
int64_t vp_now_coarse_ms(void);

#endif
