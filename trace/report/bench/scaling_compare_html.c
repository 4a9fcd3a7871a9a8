/* The page of two results of benchmarks. */
#include <math.h>

#include "trace/report/bench/scaling_compare.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/compare/delta_cells.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/words/shown_rows.h"

#define ROWS_MAX 1000u
#define NAME_BYTES_MAX 65536u

typedef struct scale {
    vp_unit unit;
    int64_t widest; /* difference */
} scale;

static scale scale_of(const scaling_comparison *c, size_t time)
{
    int64_t widest = 0;
    for (size_t i = 0; i < c->count; i++) {
        int64_t size = rep_delta_size(&c->pairs[i].times[time]);
        widest = size > widest ? size : widest;
    }
    return (scale){rep_unit_for(VP_UNIT_AUTO, scaling_longest(c, time)), widest};
}

static void name_cells(page *p, const scaling_pair *pair)
{
    vp_buf text;
    vp_buf_init(&text, NAME_BYTES_MAX);
    scaling_pair_name(&text, pair);
    html_name_cell(p, vp_buf_cstr(&text), NULL);
    vp_buf_free_piece(p->b, &text);
    html_puts(p, "<td>");
    scaling_pair_devices(p->b, pair);
    html_puts(p, "</td>");
}

static void put_times(page *p, const scaling_comparison *c, size_t time, const char *id,
                      const char *title)
{
    scale s = scale_of(c, time);
    bool runs = time == SCALING_MEDIAN;
    html_section(p, id, title);
    html_table(p, "list", title);
    html_head(p, "op", "Method", NULL, NULL);
    html_head(p, "", "Devices", NULL, NULL);
    html_delta_heads(p, rep_unit_sign(s.unit));
    if (runs) {
        html_head(p, "", "Noise", rep_unit_sign(s.unit), "A difference up to this says nothing");
        html_head(p, "", "Speed-up", NULL, "A's time by B's");
        html_head(p, "", "Efficiency", "%", "Speed-up by how many times as many devices B has");
        html_head(p, "text", "Judged", NULL, NULL);
    }
    html_rows(p);
    for (size_t i = 0; i < c->count && i < ROWS_MAX; i++) {
        const scaling_pair *pair = &c->pairs[i];
        html_puts(p, pair->verdict == VP_NOISE ? "<tr class=\"noise\">" : "<tr>");
        name_cells(p, pair);
        html_delta_cells(p, &pair->times[time], s.unit, s.widest);
        if (runs) {
            html_ps_cell(p, pair->threshold_ps, s.unit);
            html_double_cell(p, pair->speed_up > 0 ? pair->speed_up : (double)NAN, 2);
            html_double_cell(p, pair->efficiency > 0 ? 100 * pair->efficiency : (double)NAN, 1);
            html_puts(p, "<td class=\"text judged\">");
            html_text(p, pair->reason);
            html_puts(p, "</td>");
        }
        html_puts(p, "</tr>\n");
    }
    html_table_end(p, c->count > ROWS_MAX ? c->count - ROWS_MAX : 0);
    html_section_end(p);
}

static void put_header(page *p, const scaling_comparison *c)
{
    html_verdict(p, c->a_name, c->b_name, c->verdict, c->reason);
    html_puts(p, "</header>\n");
}

int rep_results_html(vp_buf *b, const scaling_comparison *c)
{
    page p = {.b = b, .v = rep_view(NULL)};
    html_begin(&p, "Results of a benchmark, compared");
    put_header(&p, c);
    html_puts(&p, "<main id=\"main\">\n");
    put_times(&p, c, SCALING_MEDIAN, "runs", "The median run");
    if (scaling_has_time(c, SCALING_FIRST_CALL))
        put_times(&p, c, SCALING_FIRST_CALL, "first", "The first call, with compilation");
    if (scaling_has_time(c, SCALING_WARMUP))
        put_times(&p, c, SCALING_WARMUP, "warmup", "All of the warm-up");
    if (scaling_has_time(c, SCALING_EXPORT))
        put_times(&p, c, SCALING_EXPORT, "export", "Writing the recordings");
    html_puts(&p, "</main>\n<footer>\n<p>view_profile " VP_VERSION "</p>\n</footer>\n");
    html_end(&p);
    return b->status;
}
