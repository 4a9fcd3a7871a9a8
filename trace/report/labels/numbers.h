/* Formats numbers for people: times, sizes, shares, rates. Shared by text, pages and findings.
 * Nothing is owned. */
#ifndef VP_REPORT_NUMBERS_H
#define VP_REPORT_NUMBERS_H

#include "include/view_profile.h"
#include "trace/base/buf.h"

#define REP_PERCENT_ALL 10000 /* shares are counted in hundredths of a percent */

/* Unit of a table whose largest value is scale_ps, unless one is requested. */
vp_unit rep_unit_for(vp_unit asked, int64_t scale_ps);
const char *rep_unit_name(vp_unit unit); /* "us" */
const char *rep_unit_sign(vp_unit unit); /* "µs" */
/* Number without a unit, rounded half up to the unit's decimals, or to two significant digits if
 * that is more. "-" for unknown (negative). */
int rep_put_ps(vp_buf *b, int64_t ps, vp_unit unit);
/* A start time, with enough decimals to locate an event of that length: the last one is at most a
 * tenth of it. Signed; "-" for VP_NO_TIME. Without a length: the unit's decimals. */
int rep_put_when(vp_buf *b, int64_t start_ps, vp_unit unit, int64_t dur_ps);
/* A number recorded by the program: "1024", "0.125", "1.5e+12"; "-" for NaN. */
int rep_put_value(vp_buf *b, double v);
/* "1234", or "1,234,567" with grouping; "-" for unknown. */
int rep_put_count(vp_buf *b, int64_t n, bool grouping);
int rep_put_bytes(vp_buf *b, int64_t bytes); /* "1.4 MiB", "-" for unknown */
/* With that many decimals, or more for two significant digits; "-" for NaN. */
int rep_put_number(vp_buf *b, double v, int decimals);
/* With that many decimals; "-" for NaN. */
int rep_put_ratio(vp_buf *b, double v, int decimals);
/* "12.34%"; "-" if the denominator is not positive. */
int rep_put_percent(vp_buf *b, int64_t part, int64_t whole);
int rep_put_hundredths(vp_buf *b, int64_t v); /* 1234 -> "12.34" */
/* Shares of the parts in hundredths of a percent, which add up to exactly REP_PERCENT_ALL (largest
 * remainder, ties to the earlier part); all 0 if the parts add up to 0. n <= 8. */
void rep_shares(int *out, const int64_t *parts, size_t n);
/* Mean of outermost calls, rounded half up; VP_UNKNOWN without calls. */
int64_t rep_mean_ps(const vp_op *op);
int64_t rep_stddev_ps(const vp_op *op); /* rounded; VP_UNKNOWN for NaN */
double rep_cv(const vp_op *op);         /* stddev / mean; NaN when unknown */
/* Both are NaN if unknown, and for halves of async ops, whose time is not that of the work. */
double rep_gb_per_s(const vp_op *op);
double rep_gflop_per_s(const vp_op *op);
/* Window of the op's device, of which its self time is a part. VP_UNKNOWN if concurrent tracks add
 * up to more than the window. */
int64_t rep_window_of(const vp_report *r, const vp_op *op);
/* Bytes of a collective per participant and time, and the same times the bus factor
 * (docs/reference/metrics.md#collectives); NaN if unknown. */
double rep_algorithm_gb_per_s(const vp_collective *c);
double rep_bus_gb_per_s(const vp_collective *c);
/* Bus factor: 2(n-1)/n for all-reduce, (n-1)/n for all-gather, reduce-scatter and all-to-all among
 * n, else 1; NaN if it depends on an unknown n. */
double rep_bus_factor(const vp_collective *c);
double rep_transfer_gb_per_s(const vp_transfer *t);           /* bytes over the time in flight */
int64_t rep_per_step_ps(const vp_report *r, const vp_op *op); /* mean, VP_UNKNOWN */
/* Devices with the longest and the shortest wait at barriers, among at least two that wait equally
 * often; false if there are none. */
bool rep_barrier_waits(const vp_report *r, uint32_t *most, uint32_t *least);
/* Number of entries beyond those listed in a report. */
size_t rep_beyond(int64_t total, size_t listed);
/* "▁" to "█" for x relative to most; a space if either is 0 or less. */
int rep_put_spark(vp_buf *b, int64_t x, int64_t most);
/* "2026-01-11 21:26:41" in local time; "-" for unknown. */
int rep_put_time(vp_buf *b, int64_t unix_ns);

/* "12.345 ms"; the unit is chosen for `scale_ps` (a table's largest value) when AUTO. */
int rep_duration(vp_buf *b, int64_t ps, vp_unit unit, int64_t scale_ps);
/* The four parts of a device's window, in the order of every table and bar. */
enum { REP_COMPUTE, REP_COMM, REP_COPY, REP_IDLE, REP_PARTS };
void rep_breakdown_parts(int64_t out[REP_PARTS], const vp_breakdown *d);
/* Values of the step on its critical device, or NULL. */
const vp_breakdown *rep_critical(const vp_step *s);

#endif
