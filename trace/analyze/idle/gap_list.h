/* Longest gaps of a device and the labels of its idle time, as listed in the report. They go into
 * the host's result. */
#ifndef VP_ANALYZE_GAP_LIST_H
#define VP_ANALYZE_GAP_LIST_H

#include "trace/analyze/idle/idle.h"

/* Maximum gaps per device: more than a reader needs, but few enough for a small report. */
#define GAP_LIST_MAX 100u
#define GAP_LABELS_MAX 50u

typedef struct gap_list {
    idle_gap v[GAP_LIST_MAX]; /* a heap when full: the shortest first */
    size_t n;
} gap_list;

/* Adds the gap if it is among the longest; of equal ones the earlier wins. */
void gap_list_offer(gap_list *l, const idle_gap *g);
/* Appends them to h->gaps. op: by group, as ops_by_group gives it. */
int gap_list_emit(const gap_list *l, analysis *a, label_book *labels, uint32_t device,
                  const uint32_t *op);
/* Sorts the longest first, over all devices. */
void gap_list_sort(host_result *h);
/* Sorts the sums and appends the largest of them to h->idle_labels. */
int gap_labels_emit(idle_sums *s, analysis *a, uint32_t device);

/* Adds idle time, by the kind of the op that ends it, to the scopes of those ops. */
int scopes_idle(host_result *h, const trace *t, const int64_t *idle_ps);

#endif
