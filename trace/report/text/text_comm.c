/* What devices say to each other and to the host, and who waits for whom. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/words.h"

#define COLLECTIVES_MAX 12u
#define TRANSFERS_MAX 16u

static int put_collectives(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {{.drop = 0},
                                          {.drop = 0},
                                          {.drop = 0},
                                          {.drop = 2},
                                          {.drop = 1},
                                          {.drop = 4},
                                          {.drop = 3},
                                          {.left = true, .want = 22, .min = 10},
                                          {.left = true, .want = 12, .min = 8, .drop = 1}};
    size_t shown = 0, more = 0;
    int64_t scale = 0;
    grid g;
    if (!r->collective_count)
        return b->status;
    for (size_t i = 0; i < r->collective_count; i++)
        if (r->collectives[i].total_ps > scale)
            scale = r->collectives[i].total_ps;
    vp_unit unit = rep_unit_for(v->unit, scale);
    text_title(b, v, "Collectives");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "exposed", rep_unit_name(unit));
    text_head(&g, "total", NULL);
    text_head(&g, "calls", NULL);
    text_head(&g, "bytes", NULL);
    text_head(&g, "bus GB/s", NULL);
    text_head(&g, "of", NULL);
    text_head(&g, "waits", NULL);
    text_head(&g, "collective", NULL);
    text_head(&g, "device", NULL);
    for (size_t i = 0; i < r->collective_count; i++) {
        const vp_collective *x = &r->collectives[i];
        if (!rep_device_matches(r, v, x->device))
            continue;
        if (shown == COLLECTIVES_MAX) {
            more++;
            continue;
        }
        shown++;
        text_ps(&g, x->exposed_ps, unit);
        text_ps(&g, x->total_ps, unit);
        text_count(&g, x->count);
        text_bytes(&g, x->bytes);
        text_rate(&g, rep_bus_gb_per_s(x));
        text_count(&g, x->group_size);
        text_ps(&g, x->wait_ps, unit);
        grid_escaped(&g, x->name, GRID_COMM);
        grid_escaped(&g, r->devices[x->device].name, GRID_PLAIN);
    }
    return text_finish(b, &g, v, more);
}

static int put_transfers(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {
        {.left = true}, {.drop = 0}, {.drop = 0}, {.drop = 0},
        {.drop = 0},    {.drop = 1}, {.drop = 3}, {.left = true, .want = 12, .min = 8, .drop = 2}};
    size_t shown = 0, more = 0;
    int64_t scale = 0;
    grid g;
    if (!r->transfer_count)
        return b->status;
    for (size_t i = 0; i < r->transfer_count; i++)
        if (r->transfers[i].busy_ps > scale)
            scale = r->transfers[i].busy_ps;
    vp_unit unit = rep_unit_for(v->unit, scale);
    text_title(b, v, "Transfers");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "direction", NULL);
    text_head(&g, "count", NULL);
    text_head(&g, "bytes", NULL);
    text_head(&g, "time", rep_unit_name(unit));
    text_head(&g, "exposed", NULL);
    text_head(&g, "GB/s", NULL);
    text_head(&g, "pageable", NULL);
    text_head(&g, "device", NULL);
    for (size_t i = 0; i < r->transfer_count; i++) {
        const vp_transfer *x = &r->transfers[i];
        if (x->device != VP_NO_DEVICE && !rep_device_matches(r, v, x->device))
            continue;
        if (shown == TRANSFERS_MAX) {
            more++;
            continue;
        }
        shown++;
        grid_puts(&g, rep_direction_text(x->direction), GRID_COPY);
        text_count(&g, x->count);
        text_bytes(&g, x->bytes);
        text_ps(&g, x->busy_ps, unit);
        text_ps(&g, x->exposed_ps, unit);
        text_rate(&g, rep_transfer_gb_per_s(x));
        text_count(&g, x->pageable_count);
        grid_escaped(&g, x->device == VP_NO_DEVICE ? "host" : r->devices[x->device].name,
                     GRID_PLAIN);
    }
    return text_finish(b, &g, v, more);
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
    vp_buf_puts(&line, " computes longest, ");
    rep_duration(&line, x->max_ps, v->unit, x->max_ps);
    vp_buf_puts(&line, ", ");
    rep_put_percent(&line, x->max_ps - x->mean_ps, x->mean_ps);
    vp_buf_puts(&line, " above the mean.");
    if (x->matched > 0 && x->straggler < r->device_count) {
        vp_buf_printf(&line, " Of %lld collective calls seen on all devices, ",
                      (long long)x->matched);
        vp_put_escaped(&line, vp_str_of(r->devices[x->straggler].name));
        vp_buf_printf(&line, " came last in %lld; the others waited ",
                      (long long)x->straggler_last);
        rep_duration(&line, x->wait_ps, v->unit, x->wait_ps);
        vp_buf_puts(&line, " in all.");
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
