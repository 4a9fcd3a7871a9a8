/* Transfers and collectives of a device in flight. On TPU, one is a pair of ops ("copy-start.1" …
 * "copy-done.1"): it is in flight from the start of the first to the end of the second, while only
 * the two ops block the op line (docs/reference/metrics.md#async-pairs). On other devices, it is
 * one op. The caller frees the list. */
#ifndef VP_ANALYZE_FLIGHTS_H
#define VP_ANALYZE_FLIGHTS_H

#include "trace/analyze/device/cover.h"

#define FLIGHT_NO_DONE UINT32_MAX

typedef struct flight {
    uint32_t track, first, done; /* indices of events of the track; done: FLIGHT_NO_DONE if there is
                                  * none */
    uint32_t kind;               /* of the first op */
    uint32_t row;                /* row of the caller */
} flight;

typedef struct flights {
    flight *v;
    size_t n, cap;
} flights;

/* Kinds that open and that end a flight; made once per trace. */
typedef struct flight_kinds flight_kinds;
int flight_kinds_new(flight_kinds **out, const trace *t);
void flight_kinds_free(flight_kinds *k);

/* Lists the flights of one class on a device, by track and start. A "-done" without its "-start" is
 * a flight of its own. Free them also on failure. */
int flights_find(flights *out, track_set set, const uint8_t *class_of, vp_op_class class,
                 const flight_kinds *kinds);
void flights_free(flights *f);
/* Sorts flights by (row, start). *first: index of the first flight of each row, and the end of the
 * last (vp_free). Every row is below `rows`. */
int flights_sort(flights *f, size_t **first, size_t rows, const trace *t);

/* Spans on the device's own clock: in flight, and blocking the op line (one or two). */
span flight_span(const trace *t, const flight *f);
size_t flight_blocks(span out[2], const trace *t, const flight *f);
int64_t flight_aligned_start(const trace *t, const flight *f);

/* Sums of a row of flights, in the order of flights_sort. */
typedef struct flight_sums {
    int64_t in_flight_ps; /* Σ of lengths */
    int64_t ops_ps;       /* Σ of its ops' durations */
    int64_t union_ps;     /* of the times in flight */
    int64_t exposed_ps;   /* of the union of its ops: time not covered by `others` */
    int64_t exposed;      /* number of flights with such a part */
} flight_sums;
int flight_sum(flight_sums *out, const flight *v, size_t n, const trace *t, cover *others);

#endif
