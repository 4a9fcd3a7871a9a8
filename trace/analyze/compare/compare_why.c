/* The reason why an op takes more or less time. Its time is calls × time per call, and work × time
 * per unit of work. The named factor is the one whose logarithm changed more in the direction of
 * the time. Swapping A and B reverses all signs, and so gives the opposite reason for the same op.
 */
#include <math.h>

#include "trace/analyze/compare/compare_parts.h"

/* Times per FLOP within this factor count as equal, because two runs cannot be measured more
 * precisely. */
#define SAME_RATE 1.05

/* ln(b/a), with the sign that makes a positive value explain the change of the time. */
static double log_ratio_pull(double a, double b, bool grew)
{
    return grew ? log(b / a) : log(a / b);
}

/* Only for compute are FLOPs a measure of work, not for collectives and copies. */
static bool has_work(const vp_compared_op *x)
{
    return x->op_class == VP_COMPUTE && x->flops_a > 0 && x->flops_b > 0;
}

/* An op that does more work in more time is slower only if a unit of work takes longer; the reverse
 * holds for less work. */
static const char *explain_by_work(vp_compared_op *x, bool grew, double time)
{
    double work = log_ratio_pull((double)x->flops_a, (double)x->flops_b, grew), rate = time - work;
    if (work < rate)
        return grew ? "each FLOP slower" : "each FLOP faster";
    x->significant = rate > log(SAME_RATE);
    if (fabs(rate) <= log(SAME_RATE))
        return grew ? "more work at the same rate" : "less work at the same rate";
    if (grew)
        return rate > 0 ? "more work, each FLOP slower" : "more work, each FLOP faster";
    return rate > 0 ? "less work, each FLOP faster" : "less work, each FLOP slower";
}

static const char *explain_by_calls(const vp_compared_op *x, bool grew, double time)
{
    double calls = log_ratio_pull(x->span_calls_a, x->span_calls_b, grew);
    if (calls >= time - calls)
        return grew ? "called more often" : "called less often";
    return grew ? "each call takes longer" : "each call takes less time";
}

static const char *explain_op_change(vp_compared_op *x)
{
    bool grew = x->self.delta_ps > 0, timed = x->self.a_ps > 0 && x->self.b_ps > 0;
    double time = timed ? log_ratio_pull((double)x->self.a_ps, (double)x->self.b_ps, grew) : 0;
    if (timed && has_work(x))
        return explain_by_work(x, grew, time);
    if (timed && x->span_calls_a > 0 && x->span_calls_b > 0)
        return explain_by_calls(x, grew, time);
    return grew ? "each call takes longer" : "each call takes less time";
}

void cmp_explain(vp_compared_op *x, const vp_comparison *c)
{
    x->significant = cmp_size(&x->self) > c->threshold_ps;
    if (!x->significant)
        x->reason = c->per_step ? "within the noise of a step" : "less than 1% of the window";
    else if (x->is_new)
        x->reason = "only in B";
    else if (x->is_gone)
        x->reason = "only in A";
    else
        x->reason = explain_op_change(x);
}
