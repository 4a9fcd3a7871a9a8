/* Collectives, transfers and stragglers on the terminal. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/table/comm_tables.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/numbers.h"

#define COLLECTIVES_MAX 12u
#define TRANSFERS_MAX 16u

static int put_collectives(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    tbl_collectives(&t, r, v);
    t.most = COLLECTIVES_MAX;
    return t.row_count ? text_titled_table(b, v, &t) : b->status;
}

static int put_transfers(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    tbl_transfers(&t, r, v);
    t.most = TRANSFERS_MAX;
    t.unit[0] = rep_unit_for(v->unit, tbl_largest(&t, offsetof(vp_transfer, busy_ps)));
    return t.row_count ? text_titled_table(b, v, &t) : b->status;
}

static void put_barriers(vp_buf *line, const vp_report *r, const vp_view *v)
{
    uint32_t most, least;
    if (!rep_barrier_waits(r, &most, &least))
        return;
    vp_buf_puts(line, " At barriers ");
    vp_put_escaped(line, vp_str_of(r->devices[most].name));
    vp_buf_puts(line, " waits longest, ");
    rep_duration(line, r->devices[most].barrier_ps, v->unit, r->devices[most].barrier_ps);
    vp_buf_puts(line, "; ");
    vp_put_escaped(line, vp_str_of(r->devices[least].name));
    vp_buf_puts(line, " least, ");
    rep_duration(line, r->devices[least].barrier_ps, v->unit, r->devices[least].barrier_ps);
    vp_buf_putc(line, '.');
}

static void put_balance(vp_buf *b, const vp_report *r, const vp_view *v)
{
    const vp_balance *x = &r->balance;
    vp_buf line;
    if (x->devices < 2 || x->max_ps < 0 || x->busiest >= r->device_count)
        return;
    text_title(b, v, "Balance");
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_printf(&line, "%zu devices run the same modules: ", x->devices);
    vp_put_escaped(&line, vp_str_of(r->devices[x->busiest].name));
    vp_buf_puts(&line, " has the longest compute time, ");
    rep_duration(&line, x->max_ps, v->unit, x->max_ps);
    vp_buf_puts(&line, ", ");
    rep_put_percent(&line, x->max_ps - x->mean_ps, x->mean_ps);
    vp_buf_puts(&line, " above the mean.");
    if (x->matched > 0 && x->straggler < r->device_count) {
        vp_buf_printf(&line, " Of %lld collective calls matched across devices, ",
                      (long long)x->matched);
        vp_put_escaped(&line, vp_str_of(r->devices[x->straggler].name));
        vp_buf_printf(&line, " arrives last in %lld; the others wait ",
                      (long long)x->straggler_last);
        rep_duration(&line, x->wait_ps, v->unit, x->wait_ps);
        vp_buf_puts(&line, " in total.");
    }
    put_barriers(&line, r, v);
    text_line(b, v, &line);
}

int text_communication(vp_buf *b, const vp_report *r, const vp_view *v)
{
    VP_TRY(put_collectives(b, r, v));
    VP_TRY(put_transfers(b, r, v));
    put_balance(b, r, v);
    return b->status;
}
