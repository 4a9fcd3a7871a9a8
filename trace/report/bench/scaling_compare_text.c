/* Two results of benchmarks on the terminal. */
#include "trace/base/log.h"
#include "trace/report/bench/scaling_compare.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/compare/delta_cells.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/words.h"

/* Longer and shorter stand out, what cannot be told apart does not. */
static tbl_style style_of(vp_verdict verdict)
{
    return verdict == VP_REGRESSION ? TBL_BAD : verdict == VP_IMPROVEMENT ? TBL_BOLD : TBL_DIM;
}

static void put_name(vp_buf *b, const scaling_pair *p)
{
    vp_buf name;
    vp_buf_init(&name, 1u << 20);
    scaling_pair_name(&name, p);
    vp_put_escaped(b, vp_buf_view(&name));
    vp_buf_free_piece(b, &name);
}

static void who_cells(grid *g, const scaling_pair *p)
{
    put_name(&g->text, p);
    grid_end(g, TBL_PLAIN);
    scaling_pair_devices(&g->text, p);
    grid_end(g, TBL_PLAIN);
}

static bool has_scaling(const scaling_comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->pairs[i].a && c->pairs[i].b && c->pairs[i].a->devices != c->pairs[i].b->devices)
            return true;
    return false;
}

static int put_runs(vp_buf *b, const scaling_comparison *c, const vp_view *v)
{
    static const grid_column columns[] = {{.left = true, .want = 28, .min = 10},
                                          {.drop = 0},
                                          {.drop = 0},
                                          {.drop = 0},
                                          {.drop = 1},
                                          {.drop = 1},
                                          {.drop = 3},
                                          {.drop = 0},
                                          {.drop = 2},
                                          {.left = true, .drop = 0}};
    bool scales = has_scaling(c);
    vp_unit unit = rep_unit_for(v->unit, scaling_longest(c, SCALING_MEDIAN));
    grid g;
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "method", NULL);
    text_head(&g, "devices", NULL);
    text_delta_heads(&g, unit);
    text_head(&g, "noise", NULL);
    text_head(&g, "speed-up", NULL);
    text_head(&g, scales ? "efficiency" : "runs", NULL);
    text_head(&g, "verdict", NULL);
    for (size_t i = 0; i < c->count; i++) {
        const scaling_pair *p = &c->pairs[i];
        who_cells(&g, p);
        text_delta(&g, &p->times[SCALING_MEDIAN], unit, TBL_PLAIN);
        text_ps(&g, p->threshold_ps, unit);
        text_factor(&g, p->speed_up, "x", 2, TBL_PLAIN);
        if (scales) {
            text_factor(&g, 100 * p->efficiency, "%", 1, TBL_PLAIN);
        } else {
            vp_buf_printf(&g.text, "%zu, %zu", p->a ? p->a->runs : 0, p->b ? p->b->runs : 0);
            grid_end(&g, TBL_PLAIN);
        }
        grid_puts(&g, rep_verdict_name(p->verdict), style_of(p->verdict));
    }
    text_title(b, v, "The median run");
    return text_finish(b, &g, v, 0);
}

static int put_beside(vp_buf *b, const scaling_comparison *c, const vp_view *v, size_t time,
                      const char *title)
{
    static const grid_column columns[] = {{.left = true, .want = 28, .min = 10},
                                          {.drop = 0},
                                          {.drop = 0},
                                          {.drop = 0},
                                          {.drop = 1},
                                          {.drop = 1}};
    vp_unit unit = rep_unit_for(v->unit, scaling_longest(c, time));
    grid g;
    if (!scaling_has_time(c, time))
        return b->status;
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "method", NULL);
    text_head(&g, "devices", NULL);
    text_delta_heads(&g, unit);
    for (size_t i = 0; i < c->count; i++) {
        who_cells(&g, &c->pairs[i]);
        text_delta(&g, &c->pairs[i].times[time], unit, TBL_PLAIN);
    }
    text_title(b, v, title);
    return text_finish(b, &g, v, 0);
}

/* Of one call each it would be the same table again. */
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
        put_name(&line, p);
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
    VP_TRY(put_runs(b, c, &v));
    VP_TRY(put_beside(b, c, &v, SCALING_FIRST_CALL,
                      "The first call, with compilation: no part of the runs"));
    if (has_more_warmup(c))
        VP_TRY(put_beside(b, c, &v, SCALING_WARMUP, "All of the warm-up: no part of the runs"));
    put_reasons(b, c, &v);
    return b->status;
}
