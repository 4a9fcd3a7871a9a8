/* The cells of a table, and texts shortened to a width. */
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/report/text/grid.h"
#include "trace/report/labels/escape.h"

void grid_init(grid *g, const grid_column *columns, size_t column_count)
{
    *g = (grid){.columns = columns,
                .column_count = column_count < TBL_COLUMNS_MAX ? column_count : TBL_COLUMNS_MAX};
    vp_buf_init(&g->text, VP_REPORT_BYTES_MAX);
}

void grid_free(grid *g)
{
    vp_buf_free(&g->text);
    vp_free(g->cells);
    g->cells = NULL;
    g->cell_count = g->cell_cap = 0;
}

void grid_end(grid *g, tbl_style style)
{
    int rc = vp_grow(&g->cells, &g->cell_cap, g->cell_count + 1, sizeof *g->cells, SIZE_MAX / 64);
    if (rc < 0)
        g->text.status = g->text.status < 0 ? g->text.status : rc;
    else
        g->cells[g->cell_count++] =
            (grid_cell){.end = (uint32_t)g->text.n, .style = (uint8_t)style};
}

bool grid_link_on(vp_buf *b, vp_str place, const char *root)
{
    bool is_line =
        vp_str_rfind_char(place, ':') < place.n && vp_str_find(place, VP_STR("..")) == place.n;
    vp_str line = vp_str_head(place, vp_str_find(place, VP_STR(" ")));
    if (!root || !is_line || !rep_put_source_url(b, "\x1b]8;;", line, root))
        return false;
    vp_buf_puts(b, "\x1b\\");
    return true;
}

void grid_link_off(vp_buf *b)
{
    vp_buf_puts(b, "\x1b]8;;\x1b\\");
}

void grid_color_on(vp_buf *b, tbl_style style, bool color)
{
    static const char *const codes[] = {"",         "\x1b[1m",  "\x1b[2m",
                                        "\x1b[33m", "\x1b[36m", "\x1b[31m"};
    if (color)
        vp_buf_puts(b, codes[style]);
}

void grid_color_off(vp_buf *b, tbl_style style, bool color)
{
    if (color && style != TBL_PLAIN)
        vp_buf_puts(b, "\x1b[0m");
}

vp_str grid_cell_text(const grid *g, size_t i)
{
    size_t start = i ? g->cells[i - 1].end : 0;
    return (vp_str){g->text.p + start, g->cells[i].end - start};
}

/* The longest prefix that is at most `width` columns wide. */
static size_t prefix_of(vp_str s, size_t width)
{
    size_t i = 0, used = 0;
    while (i < s.n) {
        unsigned len = vp_utf8_len((const unsigned char *)s.p + i, s.n - i);
        len = len ? len : 1;
        used += vp_display_width((vp_str){s.p + i, len});
        if (used > width)
            break;
        i += len;
    }
    return i;
}

/* The longest suffix that fits into the last `tail` columns of `all`. */
static vp_str tail_of(vp_str s, size_t all, size_t tail)
{
    size_t cut = prefix_of(s, all - tail);
    while (vp_display_width(vp_str_skip(s, cut)) > tail) /* a wide character crossed the cut */
        cut += prefix_of(vp_str_skip(s, cut), 2);
    return vp_str_skip(s, cut);
}

/* Keeps `head` columns of the start and as much of the end as fits. */
static int put_head_and_tail(vp_buf *b, vp_str s, size_t all, size_t head, size_t tail)
{
    vp_buf_str(b, vp_str_head(s, prefix_of(s, head)));
    vp_buf_puts(b, "…");
    return vp_buf_str(b, tail_of(s, all, tail));
}

int grid_put_short(vp_buf *b, vp_str s, size_t width)
{
    size_t all = vp_display_width(s), tail = width ? (width - 1) / 2 : 0;
    if (all <= width)
        return vp_buf_str(b, s);
    return width ? put_head_and_tail(b, s, all, width - 1 - tail, tail) : b->status;
}

int grid_put_end(vp_buf *b, vp_str s, size_t width)
{
    size_t all = vp_display_width(s);
    if (all <= width)
        return vp_buf_str(b, s);
    return width ? put_head_and_tail(b, s, all, 0, width - 1) : b->status;
}

int grid_put_around(vp_buf *b, vp_str s, size_t width, size_t at)
{
    size_t all = vp_display_width(s), side = width > 2 ? (width - 2) / 4 : 0;
    size_t from = at > 2 ? at - 2 : 0, middle = width - 2 - 2 * side;
    if (all <= width)
        return vp_buf_str(b, s);
    if (width < 8)
        return grid_put_short(b, s, width);
    if (from <= side + 1) /* nothing precedes it that could be left out */
        return put_head_and_tail(b, s, all, width - 1 - side, side);
    if (from + middle + side + 1 >= all)
        return put_head_and_tail(b, s, all, side, width - 1 - side);
    vp_buf_str(b, vp_str_head(s, prefix_of(s, side)));
    vp_buf_puts(b, "…");
    vp_str rest = tail_of(s, all, all - from);
    vp_buf_str(b, vp_str_head(rest, prefix_of(rest, middle)));
    vp_buf_puts(b, "…");
    return vp_buf_str(b, tail_of(s, all, side));
}
