#include "trace/analyze/mfu/waterfall.h"

typedef unsigned __int128 wide;

static int64_t lesser_ps(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* amount x scale / rate, rounded down. */
static int64_t time_for_amount(int64_t amount, int64_t scale, int64_t rate, bool *over)
{
    wide ps = amount > 0 && rate > 0 ? (wide)amount * (wide)scale / (wide)rate : 0;
    if (ps <= (wide)PRICE_MAX)
        return (int64_t)ps;
    *over = true;
    return PRICE_MAX;
}

op_price price_of(const op_cost *c, int64_t gflops, int64_t mb_s, bool *over)
{
    op_price p = {.what = gflops > 0 ? c->what : COST_UNKNOWN, .remat = c->remat};
    if (p.what == COST_UNKNOWN)
        return p;
    p.memory_ps = time_for_amount(c->bytes, 1000000, mb_s, over);
    if (p.what != COST_PRODUCT)
        return p;
    const int64_t scale = INT64_C(1000) * (c->passes ? c->passes : 1);
    p.compute_ps = time_for_amount(c->flops, scale, gflops, over);
    p.pad_ps =
        c->padded > c->flops ? time_for_amount(c->padded, scale, gflops, over) - p.compute_ps : 0;
    return p;
}

static int64_t scale_share(int64_t v, int64_t part, int64_t whole)
{
    return (int64_t)((wide)v * (wide)part / (wide)whole);
}

op_price price_part(const op_price *p, int64_t part, int64_t whole)
{
    op_price out = *p;
    if (whole <= 0 || part >= whole)
        return out;
    out.compute_ps = scale_share(p->compute_ps, part, whole);
    out.pad_ps = scale_share(p->pad_ps, part, whole);
    out.memory_ps = scale_share(p->memory_ps, part, whole);
    return out;
}

void cells_add(int64_t cells[VP_CELLS], const op_price *p, int64_t t)
{
    int64_t useful, pad, memory;
    switch ((cost_what)p->what) {
    case COST_PRODUCT:
        useful = lesser_ps(t, p->compute_ps);
        pad = lesser_ps(t - useful, p->pad_ps);
        memory = p->memory_ps - p->compute_ps - p->pad_ps;
        memory = lesser_ps(t - useful - pad, memory > 0 ? memory : 0);
        cells[p->remat ? VP_CELL_RECOMPUTE : VP_CELL_USEFUL] += useful;
        cells[VP_CELL_PAD] += pad;
        cells[VP_CELL_MEM_EXCESS] += memory;
        cells[VP_CELL_INEFFICIENCY] += t - useful - pad - memory;
        return;
    case COST_OTHER:
        memory = lesser_ps(t, p->memory_ps);
        cells[VP_CELL_NM_MEMORY] += memory;
        cells[VP_CELL_NM_EXCESS] += t - memory;
        return;
    case COST_UNKNOWN:
        cells[VP_CELL_UNKNOWN] += t;
    }
}
