#include "trace/report/data/csv.h"

#include <math.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/words.h"

/* One row an op; columns are stable, new ones go to the end. Lines end with LF. Numbers are raw,
 * unknown is empty. Only text cells can hold what a file says: they are quoted, and what a
 * spreadsheet would take for a formula is defused by an apostrophe in front. */
static const char header[] =
    "session,device,host,class,category,name,calls,total_ps,self_ps,mean_ps,min_ps,p50_ps,p95_ps,"
    "max_ps,stddev_ps,self_share_of_ops,self_share_of_window,cumulative_share,bytes,flops,"
    "gb_per_s,gflop_per_s,scope,source,module,raw_names,slowest_start_ps,slowest_dur_ps,"
    "per_step_ps\n";

void rep_csv_text(vp_buf *b, const char *z)
{
    vp_buf safe;
    if (!z)
        return;
    vp_buf_init(&safe, VP_REPORT_BYTES_MAX);
    vp_put_escaped(&safe, vp_str_of(z));
    vp_buf_putc(b, '"');
    if (*z && strchr("=+-@", *z))
        vp_buf_putc(b, '\'');
    for (size_t i = 0; i < safe.n; i++) {
        if (safe.p[i] == '"')
            vp_buf_putc(b, '"');
        vp_buf_putc(b, safe.p[i]);
    }
    vp_buf_putc(b, '"');
    vp_buf_free_piece(b, &safe);
}

void rep_csv_next_text(vp_buf *b, const char *z)
{
    vp_buf_putc(b, ',');
    rep_csv_text(b, z);
}

void rep_csv_next_i64(vp_buf *b, int64_t v, int64_t unknown)
{
    vp_buf_putc(b, ',');
    if (v != unknown)
        vp_buf_i64(b, v);
}

void rep_csv_next_double(vp_buf *b, double v)
{
    vp_buf_putc(b, ',');
    if (isfinite(v))
        vp_buf_printf(b, "%.9g", v);
}

static void put_count(vp_buf *b, int64_t n)
{
    vp_buf_putc(b, ',');
    if (n >= 0)
        vp_buf_i64(b, n);
}

static void put_share(vp_buf *b, int64_t part, int64_t whole)
{
    vp_buf_putc(b, ',');
    if (part >= 0 && whole > 0)
        vp_buf_printf(b, "%.9f", (double)part / (double)whole);
}

static void put_row(vp_buf *b, const vp_report *r, const vp_op *op, int64_t cumulative_ps)
{
    const vp_device *d = &r->devices[op->device];
    const int64_t counts[] = {op->calls,  op->total_ps, op->self_ps, rep_mean_ps(op),  op->min_ps,
                              op->p50_ps, op->p95_ps,   op->max_ps,  rep_stddev_ps(op)};
    rep_csv_text(b, r->session_id);
    rep_csv_next_text(b, d->name);
    rep_csv_next_text(b, d->host);
    vp_buf_printf(b, ",%s", rep_class_name(op->op_class));
    rep_csv_next_text(b, op->category);
    rep_csv_next_text(b, op->name);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        put_count(b, counts[i]);
    put_share(b, op->self_ps, d->self_ps);
    put_share(b, op->self_ps, rep_window_of(r, op));
    put_share(b, cumulative_ps, d->self_ps);
    put_count(b, op->bytes);
    put_count(b, op->flops);
    rep_csv_next_double(b, rep_gb_per_s(op));
    rep_csv_next_double(b, rep_gflop_per_s(op));
    rep_csv_next_text(b, op->scope);
    rep_csv_next_text(b, op->source);
    rep_csv_next_text(b, op->module);
    put_count(b, op->raw_names);
    rep_csv_next_i64(b, op->slowest_start_ps, VP_NO_TIME);
    put_count(b, op->slowest_dur_ps);
    put_count(b, rep_per_step_ps(r, op));
    vp_buf_putc(b, '\n');
}

int rep_csv(vp_buf *b, const vp_report *r, const vp_view *view)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *rows = NULL;
    VP_CLEANUP(vp_free_ptr)
    int64_t *cumulative = vp_calloc(r->device_count + 1, sizeof *cumulative);
    vp_view v = view ? *view : (vp_view){.version = 1};
    size_t n, matching;
    if (!cumulative)
        return vp_fail(VP_ENOMEM, "out of memory");
    VP_TRY(rep_select(&rows, &n, &matching, r, &v));
    vp_buf_puts(b, header);
    for (size_t i = 0; i < n; i++) {
        const vp_op *op = &r->ops[rows[i]];
        cumulative[op->device] += op->self_ps;
        put_row(b, r, op, cumulative[op->device]);
    }
    return b->status;
}
