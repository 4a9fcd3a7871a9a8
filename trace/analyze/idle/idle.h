/* Why a device idles (docs/reference/metrics.md#idle-gaps): splits one gap by the concurrent
 * activity of the host.
 *
 * A gap ends at the start of an op. If the op's launch call [l0, l1) is known, the gap is late up
 * to l0, in the call up to l1, then latency. The late part is split by the labels of the launching
 * thread (labels.h), without them by those of the main thread, and the rest is HOST without a name.
 * If the call is unknown, the whole gap is split by the labels of the main thread, and the rest is
 * UNKNOWN. A gap inside one run of a module cannot be caused by the host, because the program was
 * launched as a whole. It is LATENCY, except for callbacks to the host (CALLBACK).
 *
 * Two causes override the launching thread. While it waits in a blocking call and another device of
 * its process works, the cause is that device (PEER). While any thread copies, plain work of the
 * launching thread or its inactivity is not the cause (TRANSFER).
 *
 * Labels are on the host's clock. If the device has its own clock, the gap on the host's clock is
 * between the aligned end of the previous op and the aligned start of the next one. The two lengths
 * differ, so that interval is scaled linearly to the gap; parts add up to the gap's own length
 * exactly. An empty interval counts as its last picosecond. */
#ifndef VP_ANALYZE_IDLE_H
#define VP_ANALYZE_IDLE_H

#include "trace/analyze/device/sweep.h"
#include "trace/analyze/idle/labels.h"

#define IDLE_NO_THREAD UINT32_MAX
#define IDLE_NO_USER UINT32_MAX

struct idle_gap {
    int64_t start, end; /* on the device's clock */
    int64_t from, to;   /* on the host's */
    sweep_event next;   /* index SIZE_MAX: no op ends it */
    bool in_run; /* it lies within one run of a module; only used where the op's launch call is not
                    known */
};

/* A part of a gap, on the device's clock. */
struct idle_piece {
    int64_t start, end;
    vp_cause cause;
    vp_sid label;    /* 0: none */
    uint32_t thread; /* index of a track, or IDLE_NO_THREAD */
    uint32_t user;   /* kind of the user's frame that contains the label; IDLE_NO_USER: none */
};

/* Parts are ordered, contiguous and never empty. */
typedef int idle_fn(void *ctx, const idle_piece *p);
int idle_split(const idle_gap *g, const analysis *a, label_book *labels, idle_fn *fn, void *ctx);
/* The launch call of the op that ends the gap; UINT32_MAX: unknown. */
uint32_t idle_launch(const idle_gap *g, const analysis *a);
/* Adds at least the time for which idle_split needs labels. */
int idle_asks(spans *asked, const idle_gap *g, const analysis *a);

/* Idle time summed by (cause, label, thread). */
typedef struct idle_sum {
    vp_cause cause;
    vp_sid label;
    uint32_t thread;
    int64_t gaps, total_ps;
    int64_t last_gap; /* the last gap counted in `gaps` */
    uint32_t user;    /* that of the longest piece with one */
    int64_t user_ps;  /* its length */
} idle_sum;

typedef struct idle_sums {
    idle_sum *v;
    size_t n, cap;
    vp_map by_key;
} idle_sums;

void idle_sums_init(idle_sums *s);
void idle_sums_free(idle_sums *s);
/* gap: a number that is unique for each gap. */
int idle_sums_add(idle_sums *s, const idle_piece *p, int64_t gap);
/* Largest total first; ties in a fixed order. */
void idle_sums_sort(idle_sums *s);

#endif
