/* Memory as CSV: one row per holder of a peak, for plans and allocators. */
#include "trace/report/data/csv.h"
#include "trace/report/data/csv_table.h"
#include "trace/report/table/columns.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

/* Holders of an allocator's peak have no kind, shape and lifetime; those of a plan have no step. */
typedef struct row {
    const char *host, *of, *name, *kind, *holder, *shape, *scope, *source;
    int64_t space, peak_bytes, bytes, unpadded_bytes, count, step, first, last;
} row;

#define ROW row
static const tbl_column columns[] = {
    {TBL_TEXT, AT(host), CSV(0, "host")},
    {TBL_WORD, AT(of), CSV(0, "of")},
    {TBL_TEXT, AT(name), CSV(0, "name")},
    {TBL_COUNT, AT(space), CSV(0, "space")},
    {TBL_COUNT, AT(peak_bytes), CSV(0, "peak_bytes")},
    {TBL_WORD, AT(kind), CSV(0, "kind")},
    {TBL_TEXT, AT(holder), CSV(0, "holder")},
    {TBL_COUNT, AT(bytes), CSV(0, "bytes")},
    {TBL_COUNT, AT(unpadded_bytes), CSV(0, "unpadded_bytes")},
    {TBL_COUNT, AT(count), CSV(0, "count")},
    {TBL_TEXT, AT(shape), CSV(0, "shape")},
    {TBL_TEXT, AT(scope), CSV(0, "scope")},
    {TBL_TEXT, AT(source), CSV(0, "source")},
    {TBL_COUNT, AT(step), CSV(0, "step")},
    {TBL_COUNT, AT(first), CSV(0, "first_event")},
    {TBL_COUNT, AT(last), CSV(0, "last_event")},
};
#undef ROW

static void csv_put_plan_rows(csv_row_writer *w, const vp_memory_plan *m)
{
    for (size_t i = 0; i < m->live_count; i++) {
        const vp_plan_buffer *x = &m->live[i];
        csv_row(w, &(row){m->host, "plan", m->module, rep_buffer_kind_words[x->kind],
                          x->instruction, x->shape, x->scope, x->source, m->space, m->peak_bytes,
                          x->bytes, x->unpadded_bytes, VP_UNKNOWN, VP_UNKNOWN, x->first, x->last});
    }
}

static void put_allocator(csv_row_writer *w, const vp_memory *m)
{
    for (size_t i = 0; i < m->top_count; i++) {
        const vp_memory_item *x = &m->top[i];
        csv_row(w, &(row){m->host, "allocator", m->allocator, NULL, x->name, NULL, x->scope,
                          x->source, VP_UNKNOWN, m->peak_bytes, x->bytes, VP_UNKNOWN, x->count,
                          x->step, VP_UNKNOWN, VP_UNKNOWN});
    }
}

int rep_memory_csv(vp_buf *b, const vp_report *r, const vp_view *view)
{
    vp_view v = rep_view(view);
    tbl t = {TBL_COLUMNS(columns), .r = r, .v = &v};
    csv_row_writer w;
    csv_init_rows(&w, b, &t);
    for (size_t i = 0; i < r->memory_static_count; i++)
        if (!v.host || rep_shows_host(&v, r->memory_static[i].host))
            csv_put_plan_rows(&w, &r->memory_static[i]);
    for (size_t i = 0; i < r->memory_count; i++)
        if (!v.host || rep_shows_host(&v, r->memory[i].host))
            put_allocator(&w, &r->memory[i]);
    return b->status;
}
