/* Many runs on the terminal. */
#include "trace/base/err.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/trend/trend_view.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"

#define SPARKS_MAX 24u /* runs in a sparkline: the last */

/* The time that a run is judged by. */
static int64_t time_of(const trend_run *r)
{
    return r->per_step ? r->median_ps : r->window_ps;
}

/* Against the run before it, of the same kind of figure. */
static void put_change(grid *g, const trend *t, size_t i)
{
    int64_t now = time_of(&t->runs[i]);
    int64_t before =
        i && t->runs[i - 1].per_step == t->runs[i].per_step ? time_of(&t->runs[i - 1]) : VP_UNKNOWN;
    if (now < 0 || before <= 0)
        vp_buf_putc(&g->text, '-');
    else
        vp_buf_printf(&g->text, "%+.1f%%", 100 * ((double)now / (double)before - 1));
    grid_end(g, TBL_PLAIN);
}

static void run_row(grid *g, const trend *t, size_t i, vp_unit unit)
{
    const trend_run *r = &t->runs[i];
    rep_put_time(&g->text, r->captured_unix_ns);
    grid_end(g, TBL_DIM);
    grid_escaped(g, r->name, TBL_PLAIN);
    text_count(g, r->steps);
    rep_put_ps(&g->text, time_of(r), unit);
    grid_end(g, TBL_BOLD);
    put_change(g, t, i);
    text_ps(g, r->p90_ps, unit);
    text_ps(g, r->compute_ps, unit);
    text_ps(g, r->exposed_comm_ps, unit);
    text_ps(g, r->exposed_copy_ps, unit);
    text_ps(g, r->idle_ps, unit);
}

static int put_runs(vp_buf *b, const trend *t, const vp_view *v)
{
    static const grid_column columns[] = {{.left = true, .drop = 6},
                                          {.left = true, .want = 19, .min = 10, .keep_end = true},
                                          {.drop = 5},
                                          {.drop = 0},
                                          {.drop = 0},
                                          {.drop = 4},
                                          {.drop = 1},
                                          {.drop = 1},
                                          {.drop = 1},
                                          {.drop = 1}};
    int64_t scale = 0;
    grid g;
    for (size_t i = 0; i < t->count; i++)
        scale = time_of(&t->runs[i]) > scale ? time_of(&t->runs[i]) : scale;
    vp_unit unit = rep_unit_for(v->unit, scale);
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "captured", NULL);
    text_head(&g, "run", NULL);
    text_head(&g, "steps", NULL);
    text_head(&g, "median", rep_unit_name(unit));
    text_head(&g, "change", NULL);
    text_head(&g, "p90", NULL);
    text_head(&g, "compute", NULL);
    text_head(&g, "exp.comm", NULL);
    text_head(&g, "exp.copy", NULL);
    text_head(&g, "idle", NULL);
    for (size_t i = 0; i < t->count; i++)
        run_row(&g, t, i, unit);
    return text_finish(b, &g, v, 0);
}

/* "▁▃█ ▂": from 0 to the row's largest; a run without it is a space. */
static void put_sparks(vp_buf *b, const trend_row *row, size_t runs)
{
    static const char *const sparks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t from = runs > SPARKS_MAX ? runs - SPARKS_MAX : 0;
    for (size_t i = from; i < runs; i++) {
        int64_t x = row->self_ps[i], most = row->op->self_ps;
        if (x < 0 || most <= 0)
            vp_buf_putc(b, ' ');
        else
            vp_buf_puts(b, sparks[(size_t)((__int128)x * 7 / most)]);
    }
}

static int64_t known(const trend_row *row, size_t runs, bool last)
{
    for (size_t i = 0; i < runs; i++) {
        int64_t x = row->self_ps[last ? runs - 1 - i : i];
        if (x >= 0)
            return x;
    }
    return VP_UNKNOWN;
}

static int put_ops(vp_buf *b, const trend *t, const vp_view *v, const trend_row *rows, size_t n)
{
    static const grid_column columns[] = {{.drop = 0},
                                          {.drop = 0},
                                          {.drop = 0},
                                          {.left = true, .drop = 1},
                                          {.left = true, .want = 28, .min = 12}};
    size_t shown = n < (v->top ? v->top : n) ? n : (v->top ? v->top : n);
    grid g;
    if (!n || t->count < 2)
        return b->status;
    vp_unit unit = rep_unit_for(v->unit, rows->op->self_ps);
    text_title(b, v, "Ops that moved most, self time");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "moved", rep_unit_name(unit));
    text_head(&g, "first", NULL);
    text_head(&g, "last", NULL);
    text_head(&g, "by run", NULL);
    text_head(&g, "op", NULL);
    for (size_t i = 0; i < shown; i++) {
        text_ps(&g, rows[i].moved_ps, unit);
        text_ps(&g, known(&rows[i], t->count, false), unit);
        text_ps(&g, known(&rows[i], t->count, true), unit);
        put_sparks(&g.text, &rows[i], t->count);
        grid_end(&g, TBL_PLAIN);
        grid_escaped(&g, rows[i].op->name, TBL_PLAIN);
    }
    return text_finish(b, &g, v, n - shown);
}

int rep_trend_text(vp_buf *b, const trend *t, const vp_view *view)
{
    vp_view v = rep_view(view);
    trend_row *rows;
    size_t n;
    vp_arena arena;
    VP_TRY(put_runs(b, t, &v));
    vp_arena_init(&arena);
    int rc = trend_rows(&rows, &n, &arena, t->runs, t->count);
    if (rc >= 0)
        rc = put_ops(b, t, &v, rows, n);
    vp_arena_free(&arena);
    return rc < 0 ? rc : b->status;
}
