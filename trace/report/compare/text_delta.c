/* Differences as cells of a table on the terminal. */
#include <string.h>

#include "trace/base/limits.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/compare/delta_cells.h"
#include "trace/report/compare/delta_columns.h"
#include "trace/report/text/text_parts.h"

const vp_delta *delta_at(const tbl_column *c, const void *row)
{
    return (const void *)((const char *)row + c->at);
}

bool delta_text(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    if (c->own >= DELTA_OTHERS)
        return false;
    if (c->own == DELTA_CHANGE)
        rep_put_change(b, delta_at(c, row));
    else
        rep_put_delta(b, delta_at(c, row), t->unit[c->scale]);
    return true;
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
