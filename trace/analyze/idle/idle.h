/* Why a device idles (docs/reference/metrics.md#idle-gaps): one gap, taken apart by what the host
 * did meanwhile.
 *
 * A gap ends where an op starts. If the op's launch call [l0, l1) is known, the gap is late up to
 * l0, in the call up to l1, then latency; the late part goes by the labels of the launching thread
 * (labels.h), where it has none by those of the main thread, else it is HOST without a name. If the
 * call is not known, the whole gap goes by the labels of the main thread, and what they leave is
 * UNKNOWN. A gap inside one run of a module is no host's delay, whatever the host does meanwhile:
 * the program was launched as a whole, so it is LATENCY, but for what the device asks of the host
 * (CALLBACK).
 *
 * Two things are known better than by the launching thread: while it waits in a blocking call and
 * another device of its process works, the gap is no lateness of the host (PEER); and while a copy
 * is under way on any thread, plain work of the launching thread or its silence is not the reason
 * (TRANSFER).
 *
 * Labels are on the host's clock. Where the device has its own, the gap lies on the host's clock
 * between the aligned end of the op before and the aligned start of the op after it; the two
 * lengths differ, so that interval is stretched evenly onto the gap: parts sum to the gap's own
 * length exactly. An interval of no length counts as its last picosecond. Only analyze/ includes
 * this. */
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
    uint32_t thread; /* a track, or IDLE_NO_THREAD */
    uint32_t user;   /* kind of the user's frame around the label; IDLE_NO_USER: none */
};

/* Parts come in order, without holes and never empty. */
typedef int idle_fn(void *ctx, const idle_piece *p);
int idle_split(const idle_gap *g, const analysis *a, label_book *labels, idle_fn *fn, void *ctx);
/* The launch call of the op that ends the gap; UINT32_MAX: it is not known. */
uint32_t idle_launch(const idle_gap *g, const analysis *a);
/* Adds the time for which idle_split will ask for labels, at least. */
int idle_asks(spans *asked, const idle_gap *g, const analysis *a);

/* Idle time added up by (cause, label, thread). */
typedef struct idle_sum {
    vp_cause cause;
    vp_sid label;
    uint32_t thread;
    int64_t gaps, total_ps;
    int64_t last_gap; /* the last gap that was counted in `gaps` */
    uint32_t user;    /* that of the longest piece that has one */
    int64_t user_ps;  /* its length */
} idle_sum;

typedef struct idle_sums {
    idle_sum *v;
    size_t n, cap;
    vp_map by_key;
} idle_sums;

void idle_sums_init(idle_sums *s);
void idle_sums_free(idle_sums *s);
/* gap: a number that differs from gap to gap. */
int idle_sums_add(idle_sums *s, const idle_piece *p, int64_t gap);
/* Largest total first; ties in a fixed order. */
void idle_sums_sort(idle_sums *s);

#endif
