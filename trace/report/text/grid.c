#include "trace/report/text/grid.h"

#include "trace/base/err.h"
#include "trace/base/str.h"

#define GAP 2u
/* Width of a column if the table is still too wide without all droppable columns. */
#define GAP_LEAST 1u
/* ---- Fitting ---- */

typedef struct layout {
    grid *g;
    size_t natural[TBL_COLUMNS_MAX], width[TBL_COLUMNS_MAX];
    bool gone[TBL_COLUMNS_MAX];
    size_t gap;
} layout;

static void grid_measure_columns(layout *l)
{
    for (size_t i = 0; i < l->g->cell_count; i++) {
        size_t column = i % l->g->column_count, w = vp_display_width(grid_cell_text(l->g, i));
        l->g->cells[i].width = (uint32_t)w;
        if (w > l->natural[column])
            l->natural[column] = w;
    }
}

static size_t line_width(const layout *l)
{
    size_t sum = 0, shown = 0;
    for (size_t c = 0; c < l->g->column_count; c++) {
        if (l->gone[c])
            continue;
        sum += l->width[c];
        shown++;
    }
    return sum + (shown ? (shown - 1) * l->gap : 0);
}

/* Narrows the columns that may be shortened, the one that needs least first. */
static bool grid_shorten_columns(layout *l, size_t width, bool tight)
{
    memcpy(l->width, l->natural, sizeof l->width);
    for (;;) {
        size_t line = line_width(l), best = TBL_COLUMNS_MAX, spare = 0;
        if (line <= width)
            return true;
        for (size_t c = 0; c < l->g->column_count; c++) {
            const grid_column *column = &l->g->columns[c];
            size_t floor = tight ? column->min : column->want;
            if (l->gone[c] || !column->min || l->width[c] <= floor)
                continue;
            if (best == TBL_COLUMNS_MAX || column->want < l->g->columns[best].want) {
                best = c;
                spare = l->width[c] - floor;
            }
        }
        if (best == TBL_COLUMNS_MAX)
            return false;
        l->width[best] -= line - width < spare ? line - width : spare;
    }
}

/* Columns with the same rank are dropped together, because half a group is not useful. */
static bool drop_rank(layout *l, bool late)
{
    unsigned rank = late ? 0 : TBL_DROP_LATE - 1, worst = rank;
    for (size_t c = 0; c < l->g->column_count; c++)
        if (!l->gone[c] && l->g->columns[c].drop > worst)
            worst = l->g->columns[c].drop;
    for (size_t c = 0; c < l->g->column_count && worst > rank; c++)
        l->gone[c] |= l->g->columns[c].drop == worst;
    return worst > rank;
}

static bool grid_fit_width(layout *l, size_t width, bool tight)
{
    while (!grid_shorten_columns(l, width, tight))
        if (!drop_rank(l, tight))
            return false;
    return true;
}

static void print_cell(vp_buf *b, const layout *l, size_t i, size_t column, bool last, bool color)
{
    vp_str text = grid_cell_text(l->g, i);
    size_t width = l->width[column], used = l->g->cells[i].width;
    size_t pad = used < width ? width - used : 0;
    tbl_style style = l->g->cells[i].style;
    if (!l->g->columns[column].left)
        vp_buf_pad(b, ' ', pad);
    grid_color_on(b, style, color);
    bool link = l->g->columns[column].place && i >= l->g->column_count &&
                grid_link_on(b, text, l->g->links);
    if (used <= width)
        vp_buf_str(b, text);
    else if (l->g->columns[column].keep_end)
        grid_put_end(b, text, width);
    else if (l->g->cells[i].parts_at)
        grid_put_around(b, text, width, l->g->cells[i].parts_at);
    else
        grid_put_short(b, text, width);
    if (link)
        grid_link_off(b);
    grid_color_off(b, style, color);
    if (l->g->columns[column].left && !last)
        vp_buf_pad(b, ' ', pad);
}

int grid_print(vp_buf *b, grid *g, size_t width, bool color)
{
    layout l = {.g = g, .gap = GAP};
    if (g->text.status < 0)
        return g->text.status;
    grid_measure_columns(&l);
    if (!grid_fit_width(&l, width, false) && !grid_fit_width(&l, width, true)) {
        l.gap = GAP_LEAST;
        grid_shorten_columns(&l, width, true);
    }
    for (size_t c = 0; c < g->column_count; c++)
        if (g->columns[c].tell_apart && !l.gone[c] && l.width[c] < l.natural[c])
            VP_TRY(grid_tell_apart(g, c, l.width[c]));
    for (size_t i = 0; i + g->column_count <= g->cell_count; i += g->column_count) {
        size_t shown = 0, last = g->column_count;
        while (last && (l.gone[last - 1] || grid_cell_text(g, i + last - 1).n == 0))
            last--; /* no blanks at the end of a line */
        for (size_t c = 0; c < last; c++) {
            if (l.gone[c])
                continue;
            vp_buf_pad(b, ' ', shown++ ? l.gap : 0);
            print_cell(b, &l, i + c, c, c + 1 == last, color);
        }
        vp_buf_putc(b, '\n');
    }
    return b->status;
}

/* ---- Running lines ---- */

static void flow_put_piece(grid_flow *f, vp_str piece, size_t gap)
{
    size_t w = vp_display_width(piece), room = f->width > f->indent ? f->width - f->indent : 1;
    if (f->column && f->column + gap + w > f->width) {
        vp_buf_putc(f->b, '\n');
        vp_buf_pad(f->b, ' ', f->indent);
        f->column = f->indent;
    } else if (f->column) {
        vp_buf_pad(f->b, ' ', gap);
        f->column += gap;
    }
    w = w < room ? w : room;
    grid_put_short(f->b, piece, w);
    f->column += w;
}

static bool flow_take_text(grid_flow *f, vp_buf *text, vp_str *out)
{
    *out = vp_buf_view(text);
    text->n = 0; /* the bytes stay until the next append */
    if (text->status < 0 && f->b->status >= 0)
        f->b->status = text->status;
    return text->status >= 0;
}

void grid_flow_put(grid_flow *f, vp_buf *text)
{
    vp_str piece;
    if (flow_take_text(f, text, &piece))
        flow_put_piece(f, piece, f->gap);
}

void grid_flow_words(grid_flow *f, vp_buf *text)
{
    size_t gap = f->gap;
    vp_str words, word;
    if (!flow_take_text(f, text, &words))
        return;
    while (words.n && vp_take_until(&words, ' ', SIZE_MAX, &word)) {
        if (!word.n)
            continue;
        flow_put_piece(f, word, gap);
        gap = 1;
    }
}

void grid_flow_end(grid_flow *f)
{
    vp_buf_putc(f->b, '\n');
    f->column = 0;
}
