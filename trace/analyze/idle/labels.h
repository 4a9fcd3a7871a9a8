/* Labels of a host thread over time: its spans flattened to disjoint intervals, each with the cause
 * of idle time that it implies. The caller frees them. */
#ifndef VP_ANALYZE_LABELS_H
#define VP_ANALYZE_LABELS_H

#include "trace/analyze/device/sweep.h"

/* cause: COMPILE to HOST by host_kind_cause; INPUT also for the next item of an iterator or queue
 * (HK_PULL), CALL inside an Execute, UNKNOWN inside the profiler's own work. If several spans with
 * different causes are open, the first in that order wins; name is its outermost span. For HOST the
 * name is the outermost span below the step annotation, PjitFunction and every span that contains a
 * step, or for frames of a Python tracer a launch, because these spans lead to device work. If only
 * such spans are open, it is the innermost of them, and 0 directly in a step. */
typedef struct label {
    int64_t start, end;
    vp_sid name;
    vp_cause cause;
    uint32_t user;   /* kind of the innermost frame of the user's program; UINT32_MAX: none */
    int64_t user_ps; /* the longest time of one such frame; of several frames, that with the longest
                        one */
} label;

typedef struct label_list { /* by start, disjoint */
    label *v;
    size_t n, cap;
} label_list;

/* A better explanation of idle time than the launching thread's label. Disjoint, by start. name 0:
 * the label's own name and thread are kept. */
typedef struct overlay {
    int64_t start, end;
    vp_sid name;
    uint32_t thread;
} overlay;

typedef struct overlay_list {
    overlay *v;
    size_t n, cap;
} overlay_list;

/* The lists of all host threads. Each is made on first use, by any thread, and is valid only for
 * times in `asked`, a union that the book borrows: most spans of a thread are during device work,
 * for which no labels are needed. */
typedef struct label_book label_book;
int labels_new(label_book **out, const analysis *a, const spans *asked);
void labels_free(label_book *b);
int labels_of(const label_list **out, label_book *b, uint32_t track);
/* The first label that ends after `from`: an index, list->n if none. */
size_t labels_seek(const label_list *list, int64_t from);
/* The thread that drives the devices: the one with step annotations; without any, the one with
 * calls of compiled functions, with executions, or with launches, in this order. UINT32_MAX: none.
 */
uint32_t labels_main(const label_book *b);
/* Times at which any host thread copies (HK_TRANSFER), without waits for results; and at which any
 * device is busy, which is empty for fewer than two devices. */
const overlay_list *labels_copies(const label_book *b);
const overlay_list *labels_busy(const label_book *b);
/* The first that ends after `from`: an index, list->n if none. */
size_t overlays_seek(const overlay_list *list, int64_t from);
/* True if the event is a step annotation, by its name or by its attributes. */
bool labels_is_step(const trace *t, const host_kinds *kinds, const trace_track *k, size_t event);

#endif
