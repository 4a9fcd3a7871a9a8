/* Time by the number of devices on the terminal. */
#include "trace/report/bench/scaling.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"

static void put_row(grid *g, const scaling_row *r, vp_unit unit)
{
    grid_escaped(g, r->method, TBL_PLAIN);
    text_count(g, r->devices);
    text_ps(g, r->time_ps, unit);
    text_ps(g, r->first_call_ps, unit);
    text_factor(g, r->speed_up, "x", 2, TBL_BOLD);
    text_factor(g, 100 * r->efficiency, "%", 1, TBL_BOLD);
    if (r->ok)
        grid_escaped(g, r->trace, TBL_DIM);
    else
        grid_escaped(g, r->error ? r->error : "failed", TBL_BAD);
}

int rep_scaling_text(vp_buf *b, const scaling *s, const vp_view *view)
{
    static const grid_column columns[] = {{.left = true, .want = 24, .min = 8},
                                          {.drop = 0},
                                          {.drop = 0},
                                          {.drop = 2},
                                          {.drop = 0},
                                          {.drop = 0},
                                          {.left = true, .want = 20, .min = 10, .keep_end = true}};
    vp_view v = rep_view(view);
    int64_t scale = 0;
    grid g;
    for (size_t i = 0; i < s->count; i++)
        scale = s->rows[i].time_ps > scale ? s->rows[i].time_ps : scale;
    vp_unit unit = rep_unit_for(v.unit, scale);
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "method", NULL);
    text_head(&g, "devices", NULL);
    text_head(&g, "time", rep_unit_name(unit));
    text_head(&g, "first call", NULL);
    text_head(&g, "speed-up", NULL);
    text_head(&g, "efficiency", NULL);
    text_head(&g, "trace", NULL);
    for (size_t i = 0; i < s->count; i++)
        put_row(&g, &s->rows[i], unit);
    return text_finish(b, &g, &v, 0);
}
