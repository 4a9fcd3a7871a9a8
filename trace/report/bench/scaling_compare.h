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

/* In the order of scaling_time_words. Of the runs: what counts; the rest is beside them. */
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
    const scaling_row *a, *b; /* one of them may be NULL: not there */
    vp_delta times[SCALING_TIMES];
    int64_t threshold_ps; /* a difference of the medians up to this is noise; VP_UNKNOWN */
    double speed_up;      /* of B's median against A's: A / B; 0: unknown */
    double
        efficiency; /* speed_up by how many times as many devices B has; 0: unknown, or as many */
    vp_verdict verdict;
    const char *reason;
} scaling_pair;

typedef struct scaling_comparison {
    vp_arena arena;              /* reasons */
    const char *a_name, *b_name; /* of the sides: paths, or of one method against another */
    scaling_pair *pairs;
    size_t count, cap;
    size_t by_verdict[VP_UNVERIFIED + 1]; /* how many of each */
    /* Of the pair whose median moved most among those that decide: a regression where there is one
     * and no improvement, the reverse, or unverified where there are both. */
    vp_verdict verdict;
    const char *reason;
} scaling_comparison;

/* a and b are related (scaling_relate) and outlive the comparison. b NULL: the first method in a's
 * files against each other one, on every number of devices that has both. VP_EARG: nothing to hold
 * against each other. Free *c in any case. */
int scaling_compare(scaling_comparison *c, const scaling *a, const scaling *b, const char *a_name,
                    const char *b_name);
void scaling_compare_free(scaling_comparison *c);
/* "fused", or "per_layer → fused" where the names differ: raw. */
void scaling_pair_name(vp_buf *b, const scaling_pair *p);
/* "4", or "1 → 4". */
void scaling_pair_devices(vp_buf *b, const scaling_pair *p);
/* Both: "fused, devices: 4". */
void scaling_pair_label(vp_buf *b, const scaling_pair *p);
/* The longest of either side, for a unit; 0 where nobody knows one. */
int64_t scaling_longest(const scaling_comparison *c, size_t time);
bool scaling_has_time(const scaling_comparison *c, size_t time);

int rep_results_text(vp_buf *b, const scaling_comparison *c, const vp_view *v);
int rep_results_json(vp_buf *b, const scaling_comparison *c); /* view_profile.compare_results/1 */
int rep_results_csv(vp_buf *b, const scaling_comparison *c);  /* a row a pair */
int rep_results_md(vp_buf *b, const scaling_comparison *c, const vp_view *v);
/* A test a pair; failed[i]: by a gate. */
int rep_results_junit(vp_buf *b, const scaling_comparison *c, const bool *failed);
int rep_results_html(vp_buf *b, const scaling_comparison *c);

#endif
