/* Planned memory on the page: one row per program; for the largest ones the live memory over time
 * as areas by scope, the holders of the peak as tiles and as a table, and donatable arguments. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/html/html_treemap.h"
#include "trace/report/table/memory_tables.h"
#include "trace/report/labels/memory_words.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"

#define WHOLE_MAX 8u     /* number of programs with pictures */
#define BUFFERS_MAX 100u /* rows of one peak */
/* As html_curve: scaled by the style sheet. */
#define AREA_WIDTH 1000
#define AREA_HEIGHT 1000
#define AREA_COLOURS 8u /* classes a0 to a7 in web/report.css */

bool html_has_plans(const page *p)
{
    tbl t;
    tbl_plans(&t, p->r, &p->v);
    return tbl_any(&t);
}

/* A layer is drawn on top of the previous ones: its lower edge is `under`, which is then set to its
 * upper edge. */
static void put_area(page *p, const vp_memory_plan *m, size_t k, int64_t *under)
{
    const vp_plan_layer *y = &m->layers[k];
    int64_t from = m->sample_event[0], span = m->sample_event[m->sample_count - 1] - from;
    vp_buf_printf(p->b, "<polygon class=\"a%u\" points=\"", (unsigned)(k % AREA_COLOURS));
    for (size_t i = 0; i < m->sample_count; i++)
        vp_buf_printf(p->b, "%s%lld,%lld", i ? " " : "",
                      (long long)((__int128)(m->sample_event[i] - from) * AREA_WIDTH / span),
                      (long long)(AREA_HEIGHT - (__int128)under[i] * AREA_HEIGHT / m->peak_bytes));
    for (size_t i = m->sample_count; i-- > 0;) {
        under[i] += y->bytes[i];
        vp_buf_printf(p->b, " %lld,%lld",
                      (long long)((__int128)(m->sample_event[i] - from) * AREA_WIDTH / span),
                      (long long)(AREA_HEIGHT - (__int128)under[i] * AREA_HEIGHT / m->peak_bytes));
    }
    html_puts(p, "\"/>");
}

/* Checks that all drawn data exists, and no sum exceeds the picture. */
static bool is_drawable(const vp_memory_plan *m)
{
    if (m->sample_count < 2 || m->sample_count > 1024 || m->peak_bytes <= 0 || !m->layer_count ||
        m->sample_event[m->sample_count - 1] <= m->sample_event[0])
        return false;
    for (size_t i = 0; i < m->sample_count; i++) {
        int64_t sum = 0;
        for (size_t k = 0; k < m->layer_count; k++)
            if (m->layers[k].byte_count != m->sample_count || m->layers[k].bytes[i] < 0 ||
                __builtin_add_overflow(sum, m->layers[k].bytes[i], &sum))
                return false;
        if (sum > m->peak_bytes)
            return false;
    }
    return true;
}

/* The bytes of each layer at the peak. */
static void put_area_legend(page *p, const vp_memory_plan *m, const int64_t *total)
{
    size_t at = 0;
    for (size_t i = 1; i < m->sample_count; i++)
        at = total[i] > total[at] ? i : at;
    html_puts(p, "<ul class=\"legend\">\n");
    for (size_t k = m->layer_count; k-- > 0;) {
        vp_buf_printf(p->b, "<li><i class=\"dot a%u\"></i>", (unsigned)(k % AREA_COLOURS));
        html_text(p, m->layers[k].scope ? m->layers[k].scope : "no scope");
        html_puts(p, " <span>");
        rep_put_bytes(p->b, m->layers[k].bytes[at]);
        html_puts(p, "</span></li>\n");
    }
    html_puts(p, "<li><span>at the peak</span></li>\n</ul>\n");
}

static void put_areas(page *p, const vp_memory_plan *m)
{
    int64_t under[1024] = {0};
    if (!is_drawable(m))
        return;
    html_puts(p, "<div class=\"chart\">\n<p class=\"axis\" aria-hidden=\"true\"><span>");
    rep_put_bytes(p->b, m->peak_bytes);
    vp_buf_printf(p->b,
                  "</span></p>\n<svg class=\"areas\" viewBox=\"0 0 %d %d\" "
                  "preserveAspectRatio=\"none\" aria-hidden=\"true\">",
                  AREA_WIDTH, AREA_HEIGHT);
    for (size_t k = 0; k < m->layer_count; k++)
        put_area(p, m, k, under);
    vp_buf_printf(p->b,
                  "</svg>\n<p class=\"axis\" aria-hidden=\"true\"><span>event %lld of the plan"
                  "</span><span>%lld</span></p>\n</div>\n",
                  (long long)m->sample_event[0], (long long)m->sample_event[m->sample_count - 1]);
    put_area_legend(p, m, under);
}

static void html_put_plan_tiles(page *p, const vp_memory_plan *m)
{
    html_tile tiles[HTML_TILES_MAX];
    size_t n = 0;
    for (; n < m->live_count && n < HTML_TILES_MAX && m->live[n].kind != VP_BUFFER_OTHERS; n++)
        tiles[n] = (html_tile){m->live[n].instruction, m->live[n].bytes};
    html_treemap(p, tiles, n);
}

static void html_positive_bytes_fact(page *p, const char *name, int64_t bytes)
{
    if (bytes <= 0)
        return;
    html_open_fact(p, name);
    rep_put_bytes(p->b, bytes);
    html_close_fact(p);
}

static void html_put_plan_facts(page *p, const vp_memory_plan *m)
{
    char made[32];
    html_puts(p, "<dl class=\"facts\">\n");
    html_positive_bytes_fact(p, "Peak", m->peak_bytes);
    if (m->peak_instruction) {
        html_open_fact(p, "Peak at");
        html_text(p, m->peak_instruction);
        if (m->peak_event >= 0)
            vp_buf_printf(p->b, ", event %lld of %lld", (long long)m->peak_event,
                          (long long)m->events);
        html_close_fact(p);
    }
    html_open_fact(p, "Memory");
    html_puts(p, tbl_space_of(m, made));
    html_close_fact(p);
    html_positive_bytes_fact(p, "Reserved", m->reserved_bytes);
    if (m->fragmentation_bytes >= 0 && m->reserved_bytes > 0) {
        html_open_fact(p, "Reserved but unused at the peak");
        rep_put_bytes(p->b, m->fragmentation_bytes);
        html_puts(p, ", ");
        rep_put_percent(p->b, m->fragmentation_bytes, m->reserved_bytes);
        html_puts(p, " of reserved memory");
        html_close_fact(p);
    }
    if (m->peak_unpadded_bytes >= 0)
        html_positive_bytes_fact(p, "Padding at the peak", m->peak_bytes - m->peak_unpadded_bytes);
    html_positive_bytes_fact(p, "Arguments", m->parameter_bytes);
    html_positive_bytes_fact(p, "Results", m->output_bytes);
    html_positive_bytes_fact(p, "Results in donated arguments", m->alias_bytes);
    html_positive_bytes_fact(p, "Constants", m->constant_bytes);
    html_positive_bytes_fact(p, "Temporaries", m->temp_bytes);
    html_positive_bytes_fact(p, "Thread stacks", m->stack_bytes);
    if (m->remat_count > 0)
        html_count_fact(p, "Rematerialized instructions", m->remat_count);
    html_puts(p, "</dl>\n");
    if (m->peak_bytes < 0)
        html_puts(p, "<p class=\"note\">The file has no buffer lifetimes; these are the reserved "
                     "amounts.</p>\n");
}

static void html_put_plan(page *p, const vp_memory_plan *m)
{
    tbl t;
    html_puts(p, "<div class=\"what\"><h3>");
    html_text(p, m->module);
    html_puts(p, "</h3>");
    if (m->host) {
        html_puts(p, " <span class=\"host\">");
        html_text(p, m->host);
        html_puts(p, "</span>");
    }
    html_puts(p, "</div>\n");
    html_put_plan_facts(p, m);
    put_areas(p, m);
    html_put_plan_tiles(p, m);
    tbl_plan_buffers(&t, p->r, &p->v, m);
    t.most = BUFFERS_MAX;
    if (t.row_count)
        html_put_table(p, &t);
    tbl_donations(&t, p->r, &p->v, m);
    if (t.row_count)
        html_titled_table(p, &t);
}

static void html_put_program_lines(page *p)
{
    for (size_t i = 0; i < p->r->memory_programs_count; i++) {
        vp_buf line;
        vp_buf_init(&line, 1024);
        if (rep_put_programs(&line, p->r, i)) {
            html_puts(p, "<p class=\"note\">");
            html_puts(p, vp_buf_cstr(&line));
            html_puts(p, "</p>\n");
        }
        vp_buf_free_piece(p->b, &line);
    }
}

int html_plans(page *p)
{
    size_t shown = 0;
    tbl t;
    tbl_plans(&t, p->r, &p->v);
    html_section(p, "plans", t.title);
    html_put_table(p, &t);
    html_put_program_lines(p);
    for (size_t i = 0; i < p->r->memory_static_count && shown < WHOLE_MAX; i++)
        if (t.shows(&t, &p->r->memory_static[i])) {
            html_put_plan(p, &p->r->memory_static[i]);
            shown++;
        }
    html_section_end(p);
    return p->b->status;
}
