/* Titles, heads and cells of tables on the terminal. */
#include "trace/base/limits.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/numbers.h"

void text_title(vp_buf *b, const vp_view *v, const char *title)
{
    vp_buf_putc(b, '\n');
    grid_color_on(b, TBL_BOLD, v->color);
    vp_buf_puts(b, title);
    grid_color_off(b, TBL_BOLD, v->color);
    vp_buf_putc(b, '\n');
}

void text_head(grid *g, const char *word, const char *unit)
{
    vp_buf_printf(&g->text, "%s%s%s", word, unit ? " " : "", unit ? unit : "");
    grid_end(g, TBL_BOLD);
}

int text_finish(vp_buf *b, grid *g, const vp_view *v, size_t more)
{
    g->links = v->source_links;
    int rc = grid_print(b, g, text_width(v), v->color);
    grid_free(g);
    if (more)
        vp_buf_printf(b, "… %zu more\n", more);
    return rc < 0 ? rc : b->status;
}

void text_line(vp_buf *b, const vp_view *v, vp_buf *line)
{
    grid_flow f = {.b = b, .width = text_width(v), .indent = 2, .gap = 1};
    grid_flow_words(&f, line);
    grid_flow_end(&f);
    vp_buf_free(line);
}

void text_sentence(vp_buf *b, const vp_view *v, const char *words)
{
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_puts(&line, words);
    text_line(b, v, &line);
}

size_t text_width(const vp_view *v)
{
    return v->width > 0 ? (size_t)v->width : 100;
}
