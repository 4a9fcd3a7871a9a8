/* Hosts on the terminal: compilation, their own work, memory. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/report/table/host_tables.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/numbers.h"

#define FUNCTIONS_MAX 8u
#define HOST_OPS_MAX 10u

static void put_compile_line(vp_buf *b, const vp_report *r, const vp_view *v)
{
    const vp_compile *c = &r->compile;
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_printf(&line, "%lld compilation%s in ", (long long)c->count, c->count == 1 ? "" : "s");
    rep_duration(&line, c->total_ps, v->unit, c->total_ps);
    if (r->capture_ps > 0) {
        vp_buf_puts(&line, ", ");
        rep_put_percent(&line, c->total_ps, r->capture_ps);
        vp_buf_puts(&line, " of the capture");
    }
    if (c->late > 0) {
        vp_buf_printf(&line, "; %lld after execution started, ", (long long)c->late);
        rep_duration(&line, c->late_ps, v->unit, c->late_ps);
    }
    if (c->cache_hits >= 0)
        vp_buf_printf(&line, "; %lld persistent cache hits", (long long)c->cache_hits);
    vp_buf_putc(&line, '.');
    text_line(b, v, &line);
}

static int put_compile(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    if (r->compile.count <= 0)
        return b->status;
    tbl_functions(&t, r, v);
    t.most = FUNCTIONS_MAX;
    text_title(b, v, "Compilation");
    put_compile_line(b, r, v);
    return t.row_count ? text_table(b, v, &t) : b->status;
}

static int put_host_ops(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    tbl_host_ops(&t, r, v);
    if (!r->has_devices || !tbl_any(&t))
        return b->status;
    t.title = "Host events; idle: part of self time while all devices of the host are idle";
    t.most = HOST_OPS_MAX;
    t.unit[HOST_SUM] = rep_unit_for(v->unit, r->host_ops->self_ps);
    return text_titled_table(b, v, &t);
}

int text_host(vp_buf *b, const vp_report *r, const vp_view *v)
{
    VP_TRY(put_compile(b, r, v));
    VP_TRY(put_host_ops(b, r, v));
    VP_TRY(text_plans(b, r, v));
    return text_memory(b, r, v);
}
