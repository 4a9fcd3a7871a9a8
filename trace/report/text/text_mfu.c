/* MFU breakdown on the terminal: a sentence, a bar and a line per cell for every device with a
 * peak. */
#include "trace/analyze/result/look_up.h"
#include "trace/base/limits.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/table/mfu_tables.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/mfu_words.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"

#define DEVICES_MAX 8u
#define BAR_MAX 22u
#define ROOFS_MAX 12u

static void put_sentence(vp_buf *b, const vp_report *r, const vp_view *v, size_t device)
{
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    rep_put_mfu(&line, r, v, device);
    text_line(b, v, &line);
}

static void text_put_cell_line(vp_buf *b, const vp_view *v, const mfu_cell *c, int64_t window_ps,
                               int share)
{
    const size_t before = 58; /* columns */
    size_t room = text_width(v) > before + 4 ? text_width(v) - before : 0;
    vp_buf time, percent;
    vp_buf_init(&time, 64);
    vp_buf_init(&percent, 64);
    rep_duration(&time, c->ps, v->unit, window_ps);
    rep_put_hundredths(&percent, share);
    vp_buf_printf(b, "  %-34s%12s%7s%%", c->name, vp_buf_cstr(&time), vp_buf_cstr(&percent));
    room = room < BAR_MAX ? room : BAR_MAX;
    size_t bar = (size_t)(((__int128)c->ps * (int64_t)room * 2 / window_ps + 1) / 2);
    vp_buf_puts(b, bar ? "  " : "");
    vp_buf_pad(b, '#', bar);
    vp_buf_putc(b, '\n');
    vp_buf_free_piece(b, &time);
    vp_buf_free_piece(b, &percent);
}

static void text_put_device_mfu(vp_buf *b, const vp_report *r, const vp_view *v, size_t device)
{
    const vp_device *d = &r->devices[device];
    mfu_cell cells[MFU_CELLS_MAX];
    int shares[MFU_CELLS_MAX];
    size_t n = rep_mfu_cells(cells, d);
    rep_mfu_shares(shares, cells, n);
    put_sentence(b, r, v, device);
    for (size_t i = 0; d->mfu.peak_gflops > 0 && i < n; i++)
        if (cells[i].ps > 0)
            text_put_cell_line(b, v, &cells[i], d->breakdown.window_ps, shares[i]);
}

static int text_put_roofs(vp_buf *b, const vp_report *r, const vp_view *v)
{
    VP_CLEANUP(vp_free_ptr) roof_row *ops = NULL;
    VP_CLEANUP(vp_free_ptr) roof_row *scopes = NULL;
    size_t op_count, scope_count;
    tbl t;
    VP_TRY(roof_rows_of_ops(&ops, &op_count, r, v, ROOFS_MAX));
    VP_TRY(roof_rows_of_scopes(&scopes, &scope_count, r, ROOFS_MAX));
    tbl_roofs(&t, r, v, ops, op_count);
    VP_TRY(op_count ? text_titled_table(b, v, &t) : 0);
    tbl_roofs(&t, r, v, scopes, scope_count);
    t.title = "Roofline by scope";
    t.has &= ~(unsigned)TBL_DEVICES;
    VP_TRY(scope_count ? text_titled_table(b, v, &t) : 0);
    tbl_cells_of_scopes(&t, r, v, scopes, scope_count);
    return scope_count && result_has_peak(r) ? text_titled_table(b, v, &t) : b->status;
}

int text_mfu(vp_buf *b, const vp_report *r, const vp_view *v)
{
    size_t shown = 0, more = 0;
    for (size_t i = 0; r->has_devices && i < r->device_count; i++) {
        if (!rep_device_matches(r, v, i) || !rep_has_mfu(&r->devices[i]))
            continue;
        if (shown == DEVICES_MAX) {
            more++;
            continue;
        }
        if (!shown++) {
            text_title(b, v, "MFU breakdown");
            rep_put_mean_mfu(b, r, "", "\n");
        }
        text_put_device_mfu(b, r, v, i);
    }
    if (more)
        vp_buf_printf(b, "… %zu more devices (show one with --device NAME)\n", more);
    return shown ? text_put_roofs(b, r, v) : b->status;
}
