/* Internal header of compare*.c: the state of one comparison and its parts. Everything is in the
 * arena of the comparison. */
#ifndef VP_ANALYZE_COMPARE_PARTS_H
#define VP_ANALYZE_COMPARE_PARTS_H

#include "include/view_profile.h"
#include "trace/analyze/compare/compare.h"
#include "trace/base/arena.h"
#include "trace/base/map.h"

/* Scales figures of a report to a step (or to its window) and to one device. */
typedef struct cmp_side {
    const vp_report *r;
    bool per_step;
    /* number of devices per kind with known op time */
    size_t devices[VP_DEVICE_OTHER + 1];
    __int128 span_ps, whole_ps; /* op time of all ops in the span, and in the whole capture */
} cmp_side;

/* The four classes of a device's mean step, or of its window; either all or none are VP_UNKNOWN.
 * Cells split compute; all are VP_UNKNOWN if the device has no peak. */
typedef struct cmp_classes {
    int64_t window, compute, comm, copy, idle;
    int64_t cell[VP_CELLS], cause[VP_CAUSES]; /* causes sum to idle */
    int64_t wait;                             /* of comm; VP_UNKNOWN: no matched call */
} cmp_classes;

/* A group of ops of one report, as the mean over the devices of a kind. */
typedef struct cmp_op {
    const vp_op *op; /* the op with the most self time of its group */
    vp_device_kind kind;
    int64_t self_ps, calls, flops; /* flops of the span; VP_UNKNOWN */
    double span_calls;
    bool matched;
    /* The part of a group in scopes that the other side lacks, and one of these scopes; NULL: all
     * of the group, or the rest. Such a part matches no group of the other side. */
    const char *new_scope;
} cmp_op;

/* The scopes of a report, by their forward path without the primitive. */
typedef struct cmp_scope_set {
    vp_map paths, roots;
    bool fold, complete; /* complete: it has all roots of the other side */
} cmp_scope_set;

typedef struct comparing {
    vp_comparison *c;
    vp_arena *arena;
    cmp_side a, b; /* of the captures that are shown */
    compare_side given_a, given_b;
    vp_delta mean;      /* of the steps: medians over the captures */
    bool out_of_memory; /* sticky */
} comparing;

const char *cmp_text(comparing *k, const char *s); /* a copy; NULL stays NULL */
const char *cmp_print(comparing *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* b − a; unknown if one of them is. */
vp_delta cmp_delta(int64_t a_ps, int64_t b_ps);
int64_t cmp_size(const vp_delta *d);        /* |delta|, 0 when unknown */
int64_t cmp_mean(__int128 sum, __int128 n); /* rounded half up; n > 0 */

int64_t cmp_whole_window(const vp_report *r); /* the longest of a device; VP_UNKNOWN */
/* True if all values of both sides are equal to the picosecond, as only for copies of one capture.
 */
bool cmp_same_content(const vp_report *a, const vp_report *b); /* compare_notes.c */
/* True if both sides have steps that contain the work. */
bool cmp_has_steps(const vp_report *r);
cmp_side cmp_side_of(const vp_report *r, bool per_step);
/* One entry per device; vp_free. */
int cmp_classes_of(cmp_classes **out, const cmp_side *s); /* compare_devices.c */
/* By kind, class, category and name; vp_free. */
int cmp_ops_of(cmp_op **out, size_t *n, const cmp_side *s); /* compare_ops.c */
/* The scopes of both sides; free them even after a failure. compare_scope_sets.c */
int cmp_scope_sets(cmp_scope_set *a, cmp_scope_set *b, const comparing *k);
void cmp_scope_set_free(cmp_scope_set *s);
/* Sets *lacks if a scope of `own` is not in the other side's set. This indicates new work if the
 * program of the scope exists on both sides, or if it was added to all programs of the other side.
 */
int cmp_lacks_scope(bool *lacks, const cmp_scope_set *other, const cmp_scope_set *own,
                    const char *scope);
bool cmp_has_backward_pass(const vp_report *r); /* compare_scopes.c */

int cmp_devices(comparing *k); /* compare_devices.c */
int cmp_ops(comparing *k);     /* compare_ops.c; needs the threshold */
void cmp_explain(vp_compared_op *x, const vp_comparison *c); /* compare_why.c */
int cmp_memory(comparing *k);                                /* compare_memory.c */
int cmp_scopes(comparing *k);                                /* compare_scopes.c */
int cmp_idle(comparing *k);                                  /* compare_idle.c */
void cmp_cause(comparing *k);   /* compare_cause.c; needs all of the above and the verdict */
int cmp_findings(comparing *k); /* compare_notes.c, likewise: */
void cmp_caveats(comparing *k);
/* Σ of flops in the span over all ops with a known value; VP_UNKNOWN: no op has one. */
int64_t cmp_flops(const cmp_side *s);
/* The op's self time in the span, as the mean over the devices of its kind; VP_UNKNOWN. */
int64_t cmp_op_self(const cmp_side *s, const vp_op *op);

#endif
