/* Compares benchmark results: the same methods in two sets of results, or the methods of one set. A
 * pure function of the rows; swapping A and B negates every difference and reverses every verdict.
 * Methods with the same number of devices are compared; if each side has only one number of
 * devices, those are compared.
 *
 * A benchmark runs a method only a few times, so a median absolute deviation is not reliable (with
 * three runs each, a sixth of equal pairs would differ). The noise here is Student's t of the
 * pooled deviation, at the odds of three standard errors. */
#ifndef VP_REPORT_SCALING_COMPARE_H
#define VP_REPORT_SCALING_COMPARE_H

#include "include/view_profile.h"
#include "trace/base/buf.h"
#include "trace/report/bench/scaling.h"

/* In the order of scaling_time_words. The time of the runs is compared; the others are shown in
 * addition. */
enum {
    SCALING_MEDIAN,
    SCALING_MEAN,
    SCALING_P90,
    SCALING_FIRST_CALL,
    SCALING_WARMUP,
    SCALING_EXPORT,
    SCALING_TIMES
};
extern const char *const scaling_time_words[SCALING_TIMES]; /* "first_call", … */

typedef struct scaling_pair {
    const scaling_row *a, *b; /* one of them may be NULL: missing */
    vp_delta times[SCALING_TIMES];
    int64_t threshold_ps; /* a difference of the medians up to this is noise; VP_UNKNOWN */
    double speed_up;      /* median of A divided by that of B; 0: unknown */
    double efficiency;    /* speed_up / (devices of B / devices of A); 0: unknown, or equal */
    vp_verdict verdict;
    const char *reason;
} scaling_pair;

typedef struct scaling_comparison {
    vp_arena arena;              /* reasons */
    const char *a_name, *b_name; /* names of the sides: paths, or methods */
    scaling_pair *pairs;
    size_t count, cap;
    size_t by_verdict[VP_UNVERIFIED + 1]; /* how many of each */
    /* The verdict of the significant pair whose median changed most: a regression if there are no
     * improvements, an improvement if there are no regressions, unverified if there are both. */
    vp_verdict verdict;
    const char *reason;
} scaling_comparison;

/* a and b are related (scaling_relate) and outlive the comparison. b NULL: compares the first
 * method of a's files with each other method, on every number of devices that both have. VP_EARG:
 * nothing to compare. Free *c in any case. */
int scaling_compare(scaling_comparison *c, const scaling *a, const scaling *b, const char *a_name,
                    const char *b_name);
void scaling_compare_free(scaling_comparison *c);
/* "fused", or "per_layer → fused" if the names differ: raw. */
void scaling_pair_name(vp_buf *b, const scaling_pair *p);
/* "4", or "1 → 4". */
void scaling_pair_devices(vp_buf *b, const scaling_pair *p);
/* Both texts: "fused, devices: 4". */
void scaling_pair_label(vp_buf *b, const scaling_pair *p);
/* The longest time of both sides, to choose a unit; 0 if unknown. */
int64_t scaling_longest(const scaling_comparison *c, size_t time);
bool scaling_has_time(const scaling_comparison *c, size_t time);

int rep_results_text(vp_buf *b, const scaling_comparison *c, const vp_view *v);
int rep_results_json(vp_buf *b, const scaling_comparison *c); /* view_profile.compare_results/1 */
int rep_results_csv(vp_buf *b, const scaling_comparison *c);  /* a row a pair */
int rep_results_md(vp_buf *b, const scaling_comparison *c, const vp_view *v);
/* One test per pair; failed[i]: by a gate. */
int rep_results_junit(vp_buf *b, const scaling_comparison *c, const bool *failed);
int rep_results_html(vp_buf *b, const scaling_comparison *c);

#endif
