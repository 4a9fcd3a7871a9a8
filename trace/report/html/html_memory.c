/* Memory on the page. */
#include <stdlib.h>

#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/html/html_treemap.h"
#include "trace/report/table/memory_tables.h"
#include "trace/report/labels/numbers.h"

#define ALLOCATORS_MAX 16u

bool html_has_memory(const page *p)
{
    return p->r->memory_count > 0;
}

static void html_known_bytes_fact(page *p, const char *name, int64_t bytes)
{
    if (bytes < 0)
        return;
    html_open_fact(p, name);
    rep_put_bytes(p->b, bytes);
    html_close_fact(p);
}

static void html_put_memory_facts(page *p, const vp_memory *m)
{
    html_puts(p, "<dl class=\"facts\">\n");
    html_open_fact(p, "Peak");
    rep_put_bytes(p->b, m->peak_bytes);
    if (m->total_bytes > 0) {
        html_puts(p, ", ");
        rep_put_percent(p->b, m->peak_bytes, m->total_bytes);
        html_puts(p, " of the limit");
    }
    html_close_fact(p);
    if (m->peak_start_ps != VP_NO_TIME) {
        html_open_fact(p, "Peak at");
        html_place(p, VP_NO_DEVICE, m->host, m->peak_start_ps, 0);
        html_close_fact(p);
    }
    html_known_bytes_fact(p, "Limit", m->total_bytes);
    html_known_bytes_fact(p, "Lifetime peak", m->lifetime_peak_bytes);
    html_known_bytes_fact(p, "Reserved at the peak", m->reserved_bytes);
    html_known_bytes_fact(p, "Peak reserved", m->reserved_peak_bytes);
    if (m->fragmented_bytes > 0)
        html_known_bytes_fact(p, "Fragmented", m->fragmented_bytes);
    html_known_bytes_fact(p, "At the end", m->end_bytes);
    html_count_fact(p, "Allocations", m->allocations);
    html_count_fact(p, "Frees", m->frees);
    html_known_bytes_fact(p, "Allocated in total", m->allocated_bytes);
    if (m->steps > 0)
        html_count_fact(p, "Allocations per step", m->step_allocations / m->steps);
    if (m->out_of_memory > 0)
        html_count_fact(p, "Out of memory", m->out_of_memory);
    html_puts(p, "</dl>\n");
}

static int64_t most_of(const int64_t *v, size_t n)
{
    int64_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = v[i] > most ? v[i] : most;
    return most;
}

static void open_chart(page *p, const char *what, int64_t top)
{
    html_puts(p, "<div class=\"chart\" aria-hidden=\"true\">\n<p class=\"axis\"><span>");
    rep_put_bytes(p->b, top);
    vp_buf_printf(p->b, "%s</span></p>\n<div class=\"curves\">", what);
}

/* Used memory, then reserved memory, then fragmented free memory. */
static void put_curves(page *p, const vp_memory *m)
{
    const int64_t *at = m->sample_start_ps;
    size_t n = m->sample_count, of = m->sample_reserved_count;
    if (n < 2)
        return;
    bool reserved = of == n, pieces = m->sample_fragmented_count == n;
    int64_t most = reserved ? most_of(m->sample_reserved_bytes, n) : 0;
    int64_t top = most > m->peak_bytes ? most : m->peak_bytes;
    open_chart(p, reserved ? "; dashed: reserved" : "", top);
    if (reserved)
        html_curve(p, "curve beside", at, m->sample_reserved_bytes, n, top);
    html_curve(p, "curve", at, m->sample_bytes, n, top);
    if (pieces && (most = most_of(m->sample_fragmented_bytes, n)) > 0) {
        html_puts(p, "</div>\n</div>\n");
        open_chart(p, " fragmented", most);
        html_curve(p, "curve beside", at, m->sample_fragmented_bytes, n, most);
    }
    html_puts(p, "</div>\n<p class=\"axis\"><span>");
    html_place(p, VP_NO_DEVICE, NULL, at[0], VP_UNKNOWN);
    html_puts(p, "</span><span>");
    html_place(p, VP_NO_DEVICE, NULL, at[n - 1], VP_UNKNOWN);
    html_puts(p, "</span></p>\n</div>\n");
}

static void html_put_holders(page *p, const vp_memory *m)
{
    tbl t;
    tbl_holders(&t, p->r, &p->v, m);
    if (t.row_count)
        html_put_table(p, &t);
}

static int by_tile_bytes(const void *a, const void *b)
{
    const html_tile *x = a, *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* The holders of the peak, as areas; omitted if only some holders are known, because the areas
 * would not be the peak. */
static void html_put_holder_tiles(page *p, const vp_memory *m)
{
    html_tile tiles[HTML_TILES_MAX];
    int64_t left = m->peak_bytes;
    size_t n = 0;
    for (; n < m->top_count && n < HTML_TILES_MAX; n++) {
        tiles[n] = (html_tile){m->top[n].name, m->top[n].bytes};
        left -= tiles[n].bytes;
    }
    if (!n || left)
        return;
    qsort(tiles, n, sizeof *tiles, by_tile_bytes);
    html_treemap(p, tiles, n);
}

static void html_put_leaks(page *p, const vp_memory *m)
{
    tbl t;
    tbl_leaks(&t, p->r, &p->v, m);
    if (!t.row_count)
        return;
    html_puts(p, "<h3>Memory that steps leave</h3>\n");
    html_put_table(p, &t);
}

int html_memory(page *p)
{
    const vp_report *r = p->r;
    size_t n = r->memory_count < ALLOCATORS_MAX ? r->memory_count : ALLOCATORS_MAX;
    html_section(p, "memory", "Memory");
    for (size_t i = 0; i < n; i++) {
        const vp_memory *m = &r->memory[i];
        html_puts(p, "<div class=\"what\"><h3>");
        html_text(p, m->allocator);
        html_puts(p, "</h3>");
        if (m->host) {
            html_puts(p, " <span class=\"host\">");
            html_text(p, m->host);
            html_puts(p, "</span>");
        }
        html_puts(p, "</div>\n");
        html_put_memory_facts(p, m);
        put_curves(p, m);
        html_put_holder_tiles(p, m);
        html_put_holders(p, m);
        html_put_leaks(p, m);
    }
    if (r->memory_count > n)
        vp_buf_printf(p->b, "<p class=\"note\">… %zu more</p>\n", r->memory_count - n);
    html_section_end(p);
    return p->b->status;
}
