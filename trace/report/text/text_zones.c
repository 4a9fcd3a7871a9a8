/* What threads did, and what the program says of itself: arguments of its zones, counters, facts.
 */
#include <math.h>

#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/words/numbers.h"

#define THREADS_MAX 10u
#define ARGS_MAX 12u
#define COUNTERS_MAX 12u
#define META_MAX 16u

static int put_threads(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {{.drop = 0},
                                          {.drop = 0},
                                          {.drop = 1},
                                          {.drop = 1},
                                          {.left = true, .want = 14, .min = 8},
                                          {.left = true, .want = 14, .min = 8},
                                          {.left = true, .want = 14, .min = 8, .drop = 2}};
    size_t n = r->thread_count < THREADS_MAX ? r->thread_count : THREADS_MAX;
    grid g;
    if (!n)
        return b->status;
    vp_unit unit = rep_unit_for(v->unit, r->threads->work_ps);
    text_title(b, v, "Threads; \"lost\" is waiting that could have been work");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "work", rep_unit_name(unit));
    text_head(&g, "wait", NULL);
    text_head(&g, "lost", NULL);
    text_head(&g, "top%", NULL);
    text_head(&g, "thread", NULL);
    text_head(&g, "most work in", NULL);
    text_head(&g, "most lost in", NULL);
    for (size_t i = 0; i < n; i++) {
        const vp_thread *x = &r->threads[i];
        text_ps(&g, x->work_ps, unit);
        text_ps(&g, x->wait_ps, unit);
        text_ps(&g, x->lost_ps, unit);
        text_share(&g, x->zone_ps, x->work_ps);
        grid_escaped(&g, x->name, x->steps ? TBL_BOLD : TBL_PLAIN);
        grid_escaped(&g, x->zone, TBL_PLAIN);
        grid_escaped(&g, x->wait, TBL_DIM);
    }
    return text_finish(b, &g, v, r->thread_count - n);
}

static void value_cell(grid *g, double v)
{
    rep_put_value(&g->text, v);
    grid_end(g, TBL_PLAIN);
}

static void value_heads(grid *g, const char *how_many, const char *behind)
{
    const char *const heads[] = {how_many, "min", "mean", "max", behind};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        text_head(g, heads[i], NULL);
}

static void value_cells(grid *g, const vp_values *x, double behind)
{
    text_count(g, x->numbers);
    value_cell(g, x->min);
    value_cell(g, x->mean);
    value_cell(g, x->max);
    value_cell(g, behind);
}

static size_t beyond(int64_t total, size_t listed, size_t shown)
{
    return (total > (int64_t)listed ? (size_t)total : listed) - shown;
}

static int put_numbers(vp_buf *b, const vp_report *r, const vp_view *v, bool counters)
{
    static const grid_column columns[] = {{.drop = 3},
                                          {.drop = 1},
                                          {.drop = 0},
                                          {.drop = 1},
                                          {.drop = 2},
                                          {.left = true, .want = 14, .min = 8},
                                          {.left = true, .want = 20, .min = 8}};
    const vp_values *rows = counters ? r->counters : r->args;
    size_t listed = counters ? r->counter_count : r->arg_count, with = 0, shown = 0;
    int64_t total = counters ? r->counter_total : r->arg_total;
    grid g;
    for (size_t i = 0; i < listed; i++)
        with += rows[i].numbers > 0;
    if (!with)
        return b->status;
    text_title(b, v, counters ? "Counters" : "Arguments of zones: numbers");
    grid_init(&g, columns, sizeof columns / sizeof *columns - counters);
    value_heads(&g, counters ? "values" : "calls", counters ? "last" : "sum");
    text_head(&g, counters ? "counter" : "argument", NULL);
    if (!counters)
        text_head(&g, "of zone", NULL);
    for (size_t i = 0; i < listed && shown < (counters ? COUNTERS_MAX : ARGS_MAX); i++) {
        const vp_values *x = &rows[i];
        if (!x->numbers)
            continue;
        shown++;
        value_cells(&g, x, counters ? x->last : x->sum);
        if (!counters)
            grid_escaped(&g, x->key, TBL_PLAIN);
        grid_escaped(&g, x->zone, counters ? TBL_PLAIN : TBL_DIM);
    }
    return text_finish(b, &g, v, beyond(total, listed, listed - with + shown));
}

/* "adam ×120, sgd ×3, 7 others" */
static void said_cell(grid *g, const vp_values *x)
{
    for (size_t i = 0; i < x->top_count; i++) {
        vp_buf_puts(&g->text, i ? ", " : "");
        vp_put_escaped(&g->text, vp_str_of(x->top[i].text));
        if (x->texts > 1)
            vp_buf_printf(&g->text, " ×%lld", (long long)x->top[i].count);
    }
    if (x->others)
        vp_buf_printf(&g->text, ", %lld others", (long long)x->others);
    grid_end(g, TBL_PLAIN);
}

static int put_texts(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {{.drop = 1},
                                          {.left = true, .want = 14, .min = 8},
                                          {.left = true, .want = 20, .min = 8},
                                          {.left = true, .want = 30, .min = 12}};
    size_t with = 0, shown = 0;
    grid g;
    for (size_t i = 0; i < r->arg_count; i++)
        with += r->args[i].texts > 0;
    if (!with)
        return b->status;
    text_title(b, v, "Arguments of zones: texts, and how often");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "calls", NULL);
    text_head(&g, "argument", NULL);
    text_head(&g, "of zone", NULL);
    text_head(&g, "most frequent", NULL);
    for (size_t i = 0; i < r->arg_count && shown < ARGS_MAX; i++) {
        const vp_values *x = &r->args[i];
        if (!x->texts)
            continue;
        shown++;
        text_count(&g, x->texts);
        grid_escaped(&g, x->key, TBL_PLAIN);
        grid_escaped(&g, x->zone, TBL_DIM);
        said_cell(&g, x);
    }
    return text_finish(b, &g, v, with - shown);
}

static int put_meta(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {{.left = true, .want = 24, .min = 8},
                                          {.left = true, .want = 40, .min = 12},
                                          {.left = true, .want = 14, .min = 8, .drop = 1}};
    size_t n = r->meta_count < META_MAX ? r->meta_count : META_MAX;
    bool hosts = r->host_count > 1;
    grid g;
    if (!n)
        return b->status;
    text_title(b, v, "What the program says of itself");
    grid_init(&g, columns, sizeof columns / sizeof *columns - !hosts);
    text_head(&g, "key", NULL);
    text_head(&g, "value", NULL);
    if (hosts)
        text_head(&g, "host", NULL);
    for (size_t i = 0; i < n; i++) {
        grid_escaped(&g, r->meta[i].key, TBL_PLAIN);
        grid_escaped(&g, r->meta[i].value, TBL_PLAIN);
        if (hosts)
            grid_escaped(&g, r->meta[i].host, TBL_DIM);
    }
    return text_finish(b, &g, v, beyond(r->meta_total, r->meta_count, n));
}

int text_zones(vp_buf *b, const vp_report *r, const vp_view *v)
{
    VP_TRY(put_threads(b, r, v));
    VP_TRY(put_numbers(b, r, v, false));
    VP_TRY(put_texts(b, r, v));
    VP_TRY(put_numbers(b, r, v, true));
    return put_meta(b, r, v);
}
