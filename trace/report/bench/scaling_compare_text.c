/* Two results of benchmarks on the terminal. */
#include "trace/base/log.h"
#include "trace/report/bench/result_tables.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/compare/delta_cells.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

static void text_put_pair_name(vp_buf *b, const scaling_pair *p)
{
    vp_buf name;
    vp_buf_init(&name, 1u << 20);
    scaling_pair_name(&name, p);
    vp_put_escaped(b, vp_buf_view(&name));
    vp_buf_free_piece(b, &name);
}

static void text_put_run_counts(vp_buf *b, const scaling_pair *p)
{
    vp_buf_printf(b, "%zu, %zu", p->a ? p->a->runs : 0, p->b ? p->b->runs : 0);
}

static tbl_style text_put_pair_own(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    const scaling_pair *p = ((const pair_row *)row)->pair;
    if (delta_text(b, t, c, row))
        return TBL_PLAIN;
    if (c->own == RESULT_NAME)
        text_put_pair_name(b, p);
    else if (c->own == RESULT_DEVICES)
        scaling_pair_devices(b, p);
    else if (c->own == RESULT_SPEED_UP)
        result_put_factor(b, p->speed_up, "x", 2);
    else if (c->own == RESULT_EFFICIENCY)
        result_put_factor(b, 100 * p->efficiency, "%", 2);
    else
        text_put_run_counts(b, p);
    return TBL_PLAIN;
}

static int text_put_pair_times(vp_buf *b, const scaling_comparison *c, const vp_view *v,
                               size_t time, const char *title)
{
    delta_table table;
    text_row_writer w;
    tbl_pairs(&table, c, time, v);
    table.t.own_text = text_put_pair_own;
    text_title(b, v, title);
    text_init_rows(&w, &table.t);
    for (size_t i = 0; i < c->count; i++)
        text_row(&w, &(pair_row[]){pair_row_of(&c->pairs[i], time)});
    return text_finish(b, &w.g, v, 0);
}

/* With one call each this would repeat the same table. */
static bool has_more_warmup(const scaling_comparison *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const vp_delta *all = &c->pairs[i].times[SCALING_WARMUP];
        const vp_delta *first = &c->pairs[i].times[SCALING_FIRST_CALL];
        if (all->a_ps != first->a_ps || all->b_ps != first->b_ps)
            return true;
    }
    return false;
}

static void put_reasons(vp_buf *b, const scaling_comparison *c, const vp_view *v)
{
    vp_buf_putc(b, '\n');
    for (size_t i = 0; i < c->count; i++) {
        const scaling_pair *p = &c->pairs[i];
        vp_buf line;
        vp_buf_init(&line, 1u << 16);
        vp_buf_printf(&line, "%s: ", rep_verdict_name(p->verdict));
        text_put_pair_name(&line, p);
        vp_buf_puts(&line, " on ");
        scaling_pair_devices(&line, p);
        vp_buf_puts(&line, ": ");
        vp_put_escaped(&line, vp_str_of(p->reason));
        text_line(b, v, &line);
    }
}

int rep_results_text(vp_buf *b, const scaling_comparison *c, const vp_view *view)
{
    vp_view v = rep_view(view);
    text_side(b, &v, "A", c->a_name, NULL);
    text_side(b, &v, "B", c->b_name, NULL);
    VP_TRY(text_put_pair_times(b, c, &v, SCALING_MEDIAN, "Median run"));
    if (scaling_has_time(c, SCALING_FIRST_CALL))
        VP_TRY(text_put_pair_times(b, c, &v, SCALING_FIRST_CALL,
                                   "First call, with compilation (not part of the runs)"));
    if (scaling_has_time(c, SCALING_WARMUP) && has_more_warmup(c))
        VP_TRY(
            text_put_pair_times(b, c, &v, SCALING_WARMUP, "Warm-up, total (not part of the runs)"));
    put_reasons(b, c, &v);
    return b->status;
}
