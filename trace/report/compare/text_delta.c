/* Differences as cells of a table on the terminal. */
#include <string.h>

#include "trace/base/limits.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/compare/delta_cells.h"
#include "trace/report/text/text_parts.h"

void text_delta(grid *g, const vp_delta *d, vp_unit unit, tbl_style style)
{
    rep_put_delta(&g->text, d, unit);
    grid_end(g, style);
    rep_put_change(&g->text, d);
    grid_end(g, style);
    rep_put_ps(&g->text, d->a_ps, unit);
    grid_end(g, TBL_PLAIN);
    rep_put_ps(&g->text, d->b_ps, unit);
    grid_end(g, TBL_PLAIN);
}

void text_delta_heads(grid *g, vp_unit unit)
{
    text_head(g, "B-A", rep_unit_name(unit));
    text_head(g, "change", NULL);
    text_head(g, "A", rep_unit_name(unit));
    text_head(g, "B", rep_unit_name(unit));
}

void text_side(vp_buf *b, const vp_view *v, const char *letter, const char *name, const char *path)
{
    grid_flow f = {.b = b, .width = text_width(v), .indent = 3, .gap = 2};
    vp_buf piece;
    vp_buf_init(&piece, VP_REPORT_BYTES_MAX);
    vp_buf_printf(&piece, "%s  ", letter);
    vp_put_escaped(&piece, name ? vp_str_of(name) : VP_STR("-"));
    grid_flow_put(&f, &piece);
    if (path && *path && strcmp(path, ".") != 0 && (!name || strcmp(path, name) != 0)) {
        vp_put_escaped(&piece, vp_str_of(path));
        grid_flow_put(&f, &piece);
    }
    grid_flow_end(&f);
    vp_buf_free(&piece);
}
