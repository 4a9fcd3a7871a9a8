/* What an op's own stats say of its cost (docs/reference/memory-and-mfu.md#costs-in-the-file). */
#include "trace/analyze/device/classify.h"
#include "trace/analyze/device/hygiene.h"
#include "trace/analyze/device/scopes.h"
#include "trace/analyze/mfu/costs.h"

/* FLOP of kinds without a matmul or convolution are element-wise, and not counted for a model. */
static bool is_product(vp_str category)
{
    return vp_str_find_nocase(category, VP_STR("convolution")) < category.n;
}

op_cost cost_of_kind(const trace *t, const trace_kind *k)
{
    vp_str category = trace_str(t, k->category);
    int64_t bytes = k->has_hbm ? k->hbm_bytes : k->bytes;
    op_cost c = {.remat = scope_is_remat(trace_str(t, k->scope)) ||
                          scope_is_remat_op(trace_str(t, k->name)),
                 .formatting = op_is_formatting(t, k)};
    bool custom = vp_str_eq(category, VP_STR("custom-call"));
    if (sweep_class(t, k, VP_COMPUTE) == SWEEP_CONTAINER) {
        c.what = COST_OTHER; /* its contents have the cost */
        return c;
    }
    if ((k->flops < 0 && bytes < 0) || (custom && k->flops < 0))
        return c;
    c.source = VP_COST_STAT;
    c.bytes = bytes > 0 ? bytes : 0;
    c.what = k->flops >= 0 && (custom || is_product(category)) ? COST_PRODUCT : COST_OTHER;
    c.dtype = k->dtype;
    if (c.what == COST_PRODUCT)
        c.flops = c.padded = k->flops;
    return c;
}
