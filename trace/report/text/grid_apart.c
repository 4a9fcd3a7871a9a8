/* Names that differ only in the middle look the same after shortening. Names are sorted by the
 * shortened text and then by the full text. Such names are then adjacent, and the first and the
 * last of them differ at the earliest difference of all. */
#include "trace/report/text/grid.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"

typedef struct shortened {
    vp_str shown, text;
    size_t cell;
} shortened;

static int bytes_order(vp_str a, vp_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static int by_shown(const void *pa, const void *pb)
{
    const shortened *a = pa, *b = pb;
    int order = bytes_order(a->shown, b->shown);
    return order ? order : bytes_order(a->text, b->text);
}

/* In columns; a partly different character is a different character. */
static size_t common_width(vp_str a, vp_str b)
{
    size_t i = 0;
    while (i < a.n && i < b.n && a.p[i] == b.p[i])
        i++;
    while (i && i < a.n && ((unsigned char)a.p[i] & 0xc0) == 0x80)
        i--;
    return vp_display_width(vp_str_head(a, i));
}

static void mark_common_width(grid *g, const shortened *v, size_t n)
{
    if (n < 2 || vp_str_eq(v[0].text, v[n - 1].text))
        return;
    uint32_t at = (uint32_t)common_width(v[0].text, v[n - 1].text);
    for (size_t i = 0; i < n; i++)
        g->cells[v[i].cell].parts_at = at;
}

static void mark_all(grid *g, shortened *v, size_t n)
{
    qsort(v, n, sizeof *v, by_shown);
    for (size_t first = 0, i = 1; i <= n; i++) {
        if (i < n && vp_str_eq(v[i].shown, v[first].shown))
            continue;
        mark_common_width(g, &v[first], i - first);
        first = i;
    }
}

/* The shortened text of each cell that is too wide, concatenated in `text`. */
static int shorten_all(shortened *v, size_t *n, vp_buf *text, const grid *g, size_t column,
                       size_t width)
{
    for (size_t i = column; i < g->cell_count; i += g->column_count) {
        vp_str whole = grid_cell_text(g, i);
        if (vp_display_width(whole) <= width)
            continue;
        size_t begin = text->n;
        VP_TRY(grid_put_short(text, whole, width));
        v[(*n)++] = (shortened){.shown = {NULL, text->n - begin}, .text = whole, .cell = i};
    }
    const char *at = text->p;
    for (size_t i = 0; i < *n; i++) {
        v[i].shown.p = at;
        at += v[i].shown.n;
    }
    return 0;
}

int grid_tell_apart(grid *g, size_t column, size_t width)
{
    size_t n = 0, rows = g->cell_count / g->column_count + 1;
    VP_CLEANUP(vp_free_ptr) shortened *v = vp_calloc(rows, sizeof *v);
    VP_CLEANUP(vp_buf_free) vp_buf text;
    vp_buf_init(&text, g->text.n + 4 * rows); /* "…" is three bytes */
    VP_NEED(v);
    VP_TRY(shorten_all(v, &n, &text, g, column, width));
    if (n)
        mark_all(g, v, n);
    return 0;
}
