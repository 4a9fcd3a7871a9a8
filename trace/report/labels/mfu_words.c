#include "trace/report/labels/mfu_words.h"

#include <math.h>

#include "trace/analyze/result/result_words.h"
#include "trace/base/log.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

static const struct {
    const char *name, *css, *tip;
} cells[VP_CELLS] = {
    [VP_CELL_USEFUL] = {"useful: matmuls at the peak", "useful",
                        "time of the FLOP of matmuls and convolutions at the peak; only fewer FLOP "
                        "or a narrower type reduce it"},
    [VP_CELL_RECOMPUTE] = {"recomputed matmuls", "recompute",
                           "the same for rematerialized work, which saves memory"},
    [VP_CELL_PAD] = {"matmul padding", "pad", "tile elements outside the shapes (estimate)"},
    [VP_CELL_INEFFICIENCY] = {"matmul inefficiency", "inefficiency",
                              "remaining time of matmuls: the kernel, its tail, partly filled "
                              "waves; an upper bound of the saving"},
    [VP_CELL_MEM_EXCESS] = {"matmul memory time", "memexcess",
                            "time of their bytes beyond their FLOP: reduce it by fusion, layout, "
                            "narrower types; an upper bound"},
    [VP_CELL_NM_MEMORY] = {"other ops at memory bound", "nmmemory",
                           "time of the bytes of all other ops at full bandwidth: reduce it by "
                           "fusion, narrower types; an upper bound"},
    [VP_CELL_NM_EXCESS] = {"other ops above memory bound", "nmexcess",
                           "remaining time of all other ops; an upper bound"},
    [VP_CELL_UNKNOWN] = {"unknown cost", "costunknown",
                         "ops without known FLOP and bytes: custom calls, kernels without shapes; "
                         "they make MFU a lower bound"},
};

const char *rep_cell_name(vp_cell cell)
{
    return cells[cell].name;
}

const char *rep_cell_brief(vp_cell cell)
{
#define BRIEF(name, word) [VP_CELL_##name] = (word),
    static const char *const words[] = {REP_CELLS_BRIEF(BRIEF)};
#undef BRIEF
    _Static_assert(sizeof words / sizeof *words == VP_CELLS, "every cell");
    return words[cell];
}

/* One cell, or two if calls are matched across devices. */
static size_t put_comm(mfu_cell *out, const vp_device *d)
{
    const int64_t all = d->breakdown.exposed_comm_ps, wait = d->exposed_wait_ps;
    static const char tip[] = "collectives during which nothing else runs; exact";
    if (wait < 0) {
        out[0] = (mfu_cell){"exposed communication", "comm", tip, all};
        return 1;
    }
    out[0] = (mfu_cell){"exposed communication: wait", "comm",
                        "exposed collectives until their last participant arrives; better balance "
                        "reduces it, a faster link does not",
                        wait};
    out[1] = (mfu_cell){"exposed communication: transfer", "comm", tip, all - wait};
    return 2;
}

/* In the order of the bar: useful time, losses in ops, losses outside of ops. */
size_t rep_mfu_cells(mfu_cell out[MFU_CELLS_MAX], const vp_device *d)
{
    static const char *const idle[VP_CAUSES] = {
        "idle: compiling",   "idle: input",          "idle: callback",
        "idle: sync",        "idle: transfer",       "idle: host",
        "idle: launch call", "idle: launch latency", "idle: waiting for a device",
        "idle: unknown"};
    int64_t left = d->breakdown.idle_ps;
    size_t n = 0;
    for (; n < VP_CELLS; n++)
        out[n] = (mfu_cell){cells[n].name, cells[n].css, cells[n].tip, d->mfu.cell_ps[n]};
    n += put_comm(out + n, d);
    out[n++] = (mfu_cell){"exposed copies", "copy", "copies during which nothing else runs; exact",
                          d->breakdown.exposed_copy_ps};
    for (size_t c = 0; c < VP_CAUSES; c++) {
        int64_t ps = c == VP_CAUSE_UNKNOWN ? left : d->cause_ps[c];
        out[n++] = (mfu_cell){idle[c], "idle", "no op runs; exact", ps};
        left -= ps;
    }
    return n;
}

void rep_mfu_shares(int *out, const mfu_cell *v, size_t n)
{
    int64_t rest[MFU_CELLS_MAX], sum = 0, given = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i].ps;
    for (size_t i = 0; i < n; i++) {
        __int128 scaled = sum > 0 ? (__int128)v[i].ps * REP_PERCENT_ALL : 0;
        out[i] = sum > 0 ? (int)(scaled / sum) : 0;
        rest[i] = sum > 0 ? (int64_t)(scaled % sum) : 0;
        given += out[i];
    }
    for (; sum > 0 && given < REP_PERCENT_ALL; given++) {
        size_t most = 0;
        for (size_t i = 1; i < n; i++)
            most = rest[i] > rest[most] ? i : most;
        out[most]++;
        rest[most] = -1;
    }
}

bool rep_has_mfu(const vp_device *d)
{
    return d->breakdown.compute_ps > 0 && (d->mfu.peak_gflops > 0 || d->mfu.flops > 0);
}

int64_t rep_roof_ps(const vp_roof *roof)
{
    int64_t sum = 0;
    for (size_t i = 0; i < VP_CELLS; i++)
        sum += roof->cell_ps[i];
    return sum;
}

double rep_intensity(const vp_roof *roof)
{
    return roof->flops >= 0 && roof->bytes > 0 ? (double)roof->flops / (double)roof->bytes
                                               : (double)NAN;
}

double rep_of_bound(const vp_roof *roof)
{
    int64_t bound = roof->peak_ps > roof->memory_ps ? roof->peak_ps : roof->memory_ps;
    int64_t time = rep_roof_ps(roof);
    return bound > 0 && time > 0 ? (double)bound / (double)time : (double)NAN;
}

const char *rep_bound(const vp_roof *roof)
{
    if (roof->peak_ps <= 0 && roof->memory_ps <= 0)
        return NULL;
    return roof->peak_ps >= roof->memory_ps ? "compute" : "memory";
}

static void put_percent_of_time(vp_buf *b, int64_t part, int64_t whole)
{
    rep_put_ratio(b, whole > 0 ? 100.0 * (double)part / (double)whole : 0.0, 1);
    vp_buf_putc(b, '%');
}

double rep_mean_mfu(const vp_report *r, size_t *devices)
{
    double sum = 0;
    *devices = 0;
    for (size_t i = 0; r->has_devices && i < r->device_count; i++) {
        const vp_device *d = &r->devices[i];
        if (d->breakdown.compute_ps <= 0 || d->mfu.peak_gflops <= 0)
            continue;
        sum += (double)d->mfu.peak_ps / (double)d->breakdown.window_ps;
        ++*devices;
    }
    return *devices ? sum / (double)*devices : (double)NAN;
}

void rep_put_mean_mfu(vp_buf *b, const vp_report *r, const char *head, const char *tail)
{
    size_t n;
    double mean = rep_mean_mfu(r, &n);
    if (n < 2)
        return;
    vp_buf_printf(b, "%sMean MFU of %zu devices, each over its own window: ", head, n);
    rep_put_ratio(b, 100 * mean, 1);
    vp_buf_printf(b, "%%.%s", tail);
}

static const char *said_by(const vp_mfu *m)
{
    static const char *const texts[] = {[VP_PEAK_NONE] = "",
                                        [VP_PEAK_PLANE] = "from the profile",
                                        [VP_PEAK_NAME] = "from the device name",
                                        [VP_PEAK_FIGURES] = "from cores and memory",
                                        [VP_PEAK_DERIVED] = "derived from cores and clock",
                                        [VP_PEAK_CHIP] = "set by --chip",
                                        [VP_PEAK_USER] = "set by the user"};
    return texts[m->peak_source];
}

/* The op with the most time of a cell on the device, or NULL. */
static const vp_op *op_owning_cell(const vp_report *r, size_t device, vp_cell cell)
{
    const vp_op *most = NULL;
    for (size_t i = 0; i < r->op_count; i++)
        if (r->ops[i].device == device && r->ops[i].roof.cell_ps[cell] > 0 &&
            (!most || r->ops[i].roof.cell_ps[cell] > most->roof.cell_ps[cell]))
            most = &r->ops[i];
    return most;
}

static void put_loss(vp_buf *b, const vp_report *r, size_t device, const mfu_cell *c, size_t at,
                     int64_t window_ps)
{
    const vp_op *op = at < VP_CELLS ? op_owning_cell(r, device, (vp_cell)at) : NULL;
    put_percent_of_time(b, c->ps, window_ps);
    vp_buf_printf(b, " %s", c->name);
    if (!op)
        return;
    vp_buf_puts(b, ", most of it in ");
    vp_put_escaped(b, vp_str_head(vp_str_of(op->name), 60));
}

/* The largest cells, without the useful one. */
static void put_losses(vp_buf *b, const vp_report *r, size_t device)
{
    const vp_device *d = &r->devices[device];
    mfu_cell v[MFU_CELLS_MAX];
    size_t n = rep_mfu_cells(v, d);
    for (int rank = 0; rank < 2; rank++) {
        size_t most = VP_CELL_UNKNOWN;
        for (size_t i = VP_CELL_RECOMPUTE; i < n; i++)
            if (i != VP_CELL_UNKNOWN && (most == VP_CELL_UNKNOWN || v[i].ps > v[most].ps))
                most = i;
        if (v[most].ps <= 0)
            return;
        vp_buf_puts(b, rank ? ", then " : "; largest loss: ");
        put_loss(b, r, device, &v[most], most, d->breakdown.window_ps);
        v[most].ps = -1;
    }
}

static void put_asked(vp_buf *b, const vp_mfu *m)
{
    if (m->asked_flops < 0 || m->asked_window_ps <= 0 || m->peak_gflops <= 0)
        return;
    double ps = (double)m->asked_flops * 1000.0 / (double)m->peak_gflops;
    vp_buf_puts(b, "; MFU from parameters and tokens: ");
    rep_put_ratio(b, 100.0 * ps / (double)m->asked_window_ps, 1);
    vp_buf_puts(b, "% of ");
    rep_duration(b, m->asked_window_ps, VP_UNIT_AUTO, m->asked_window_ps);
    vp_buf_puts(b, " per step");
}

static void put_mfu_head(vp_buf *b, const vp_device *d)
{
    const vp_mfu *m = &d->mfu;
    vp_buf_puts(b, "MFU ");
    put_percent_of_time(b, m->peak_ps, d->breakdown.window_ps);
    if (m->recompute_peak_ps > 0) {
        vp_buf_puts(b, " (HFU ");
        put_percent_of_time(b, m->peak_ps + m->recompute_peak_ps, d->breakdown.window_ps);
        vp_buf_putc(b, ')');
    }
    vp_buf_puts(b, " of ");
    rep_put_ratio(b, (double)m->peak_gflops / 1000.0, 1);
    vp_buf_puts(b, " TFLOP/s");
    if (m->dtype != VP_DTYPE_UNKNOWN)
        vp_buf_printf(b, " %s", result_dtype_words[m->dtype]);
    vp_buf_puts(b, " (");
    if (m->chip && m->peak_source != VP_PEAK_USER) {
        vp_put_escaped(b, vp_str_of(m->chip));
        vp_buf_puts(b, ", ");
    }
    vp_buf_printf(b, "%s%s)", said_by(m), m->uncertain ? ", uncertain" : "");
}

int rep_put_mfu(vp_buf *b, const vp_report *r, const vp_view *v, size_t device)
{
    const vp_device *d = &r->devices[device];
    const int64_t window = d->breakdown.window_ps, unknown = d->mfu.cell_ps[VP_CELL_UNKNOWN];
    vp_put_escaped(b, vp_str_of(d->name));
    vp_buf_puts(b, ": ");
    if (d->mfu.peak_gflops <= 0) {
        rep_put_ratio(b, (double)d->mfu.flops / 1e9, 3);
        vp_buf_puts(b, " GFLOP in matmuls over ");
        rep_duration(b, window, v->unit, window);
        return vp_buf_puts(b, "; the peak of this device is unknown: set it with --chip or "
                              "--peak-tflops.");
    }
    put_mfu_head(b, d);
    vp_buf_puts(b, " over ");
    rep_duration(b, window, v->unit, window);
    put_asked(b, &d->mfu);
    if (unknown > 0) {
        vp_buf_puts(b, "; ");
        put_percent_of_time(b, unknown, window);
        vp_buf_puts(b, " of the window is in ops without a known cost, so this is a lower bound");
    }
    if (d->mfu.above_ops > 0)
        vp_buf_printf(b, "; %lld execution%s faster than the peak allows",
                      (long long)d->mfu.above_ops, d->mfu.above_ops == 1 ? " was" : "s were");
    put_losses(b, r, device);
    vp_buf_putc(b, '.');
    return b->status;
}
