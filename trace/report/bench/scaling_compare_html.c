/* The page of two results of benchmarks. */
#include "trace/report/bench/result_tables.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/compare/delta_cells.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/labels/shown_rows.h"

#define ROWS_MAX 1000u
#define NAME_BYTES_MAX 65536u

static void html_pair_name_cell(page *p, const scaling_pair *pair)
{
    vp_buf text;
    vp_buf_init(&text, NAME_BYTES_MAX);
    scaling_pair_name(&text, pair);
    html_name_cell(p, vp_buf_cstr(&text), NULL);
    vp_buf_free_piece(p->b, &text);
}

static void html_pair_own_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    const scaling_pair *pair = ((const pair_row *)row)->pair;
    if (delta_html(p, t, c, row))
        return;
    if (c->own == RESULT_NAME) {
        html_pair_name_cell(p, pair);
    } else if (c->own == RESULT_DEVICES) {
        html_puts(p, "<td>");
        scaling_pair_devices(p->b, pair);
        html_puts(p, "</td>");
    } else {
        html_puts(p, "<td class=\"text judged\">");
        html_text(p, pair->reason);
        html_puts(p, "</td>");
    }
}

static const char *html_pair_row_class(const tbl *t, const void *row)
{
    (void)t;
    return ((const pair_row *)row)->pair->verdict == VP_NOISE ? "noise" : NULL;
}

static void html_put_pair_times(page *p, const scaling_comparison *c, size_t time, const char *id,
                                const char *title)
{
    delta_table table;
    html_row_writer w;
    tbl_pairs(&table, c, time, &p->v);
    table.t.title = title;
    table.t.own_html = html_pair_own_cell;
    table.t.row_class = html_pair_row_class;
    html_section(p, id, title);
    html_init_rows(&w, p, &table.t);
    html_open_table(&w);
    for (size_t i = 0; i < c->count && i < ROWS_MAX; i++)
        html_row(&w, &(pair_row[]){pair_row_of(&c->pairs[i], time)});
    html_table_end(p, c->count > ROWS_MAX ? c->count - ROWS_MAX : 0);
    html_section_end(p);
}

static void html_put_pair_header(page *p, const scaling_comparison *c)
{
    html_verdict(p, c->a_name, c->b_name, c->verdict, c->reason);
    html_puts(p, "</header>\n");
}

int rep_results_html(vp_buf *b, const scaling_comparison *c)
{
    page p = {.b = b, .v = rep_view(NULL)};
    html_begin(&p, "Benchmark comparison");
    html_put_pair_header(&p, c);
    html_puts(&p, "<main id=\"main\">\n");
    html_put_pair_times(&p, c, SCALING_MEDIAN, "runs", "Median run");
    if (scaling_has_time(c, SCALING_FIRST_CALL))
        html_put_pair_times(&p, c, SCALING_FIRST_CALL, "first", "First call, with compilation");
    if (scaling_has_time(c, SCALING_WARMUP))
        html_put_pair_times(&p, c, SCALING_WARMUP, "warmup", "Warm-up, total");
    if (scaling_has_time(c, SCALING_EXPORT))
        html_put_pair_times(&p, c, SCALING_EXPORT, "export", "Writing the recordings");
    html_puts(&p, "</main>\n<footer>\n<p>view_profile " VP_VERSION "</p>\n</footer>\n");
    html_end(&p);
    return b->status;
}
