/* What the hosts did: compilation, their own work, memory. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/words.h"

#define FUNCTIONS_MAX 8u
#define HOST_OPS_MAX 10u
#define MEMORY_MAX 16u
#define HOLDERS_MAX 5u /* of one allocator */

static void put_compile_line(vp_buf *b, const vp_report *r, const vp_view *v)
{
    const vp_compile *c = &r->compile;
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_printf(&line, "%lld compilation%s in ", (long long)c->count, c->count == 1 ? "" : "s");
    rep_duration(&line, c->total_ps, v->unit, c->total_ps);
    if (r->capture_ps > 0) {
        vp_buf_puts(&line, ", ");
        rep_put_percent(&line, c->total_ps, r->capture_ps);
        vp_buf_puts(&line, " of the capture");
    }
    if (c->late > 0) {
        vp_buf_printf(&line, "; %lld after execution had begun, ", (long long)c->late);
        rep_duration(&line, c->late_ps, v->unit, c->late_ps);
    }
    if (c->cache_hits >= 0)
        vp_buf_printf(&line, "; %lld hits of the persistent cache", (long long)c->cache_hits);
    vp_buf_putc(&line, '.');
    text_line(b, v, &line);
}

static int put_compile(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {{.drop = 0}, {.drop = 0},
                                          {.drop = 1}, {.drop = 1},
                                          {.drop = 2}, {.left = true, .want = 30, .min = 12}};
    const vp_compile *c = &r->compile;
    size_t n = c->function_count < FUNCTIONS_MAX ? c->function_count : FUNCTIONS_MAX;
    grid g;
    if (c->count <= 0)
        return b->status;
    text_title(b, v, "Compilation");
    put_compile_line(b, r, v);
    if (!n)
        return b->status;
    vp_unit unit = rep_unit_for(v->unit, c->functions->total_ps);
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "compile", rep_unit_name(unit));
    text_head(&g, "compiles", NULL);
    text_head(&g, "late", NULL);
    text_head(&g, "repeated", NULL);
    text_head(&g, "calls", NULL);
    text_head(&g, "function", NULL);
    for (size_t i = 0; i < n; i++) {
        const vp_function *f = &c->functions[i];
        text_ps(&g, f->total_ps, unit);
        text_count(&g, f->compiles);
        text_count(&g, f->late);
        text_ps(&g, f->repeat_ps, unit);
        text_count(&g, f->calls);
        grid_escaped(&g, f->name, TBL_PLAIN);
    }
    return text_finish(b, &g, v, c->function_count - n);
}

static int put_host_ops(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {{.drop = 0},
                                          {.drop = 0},
                                          {.drop = 1},
                                          {.drop = 2},
                                          {.left = true, .drop = 1},
                                          {.left = true, .want = 26, .min = 12},
                                          {.left = true, .want = 14, .min = 8, .drop = 3}};
    size_t n = r->host_op_count < HOST_OPS_MAX ? r->host_op_count : HOST_OPS_MAX;
    grid g;
    if (!n || !r->has_devices)
        return b->status;
    vp_unit unit = rep_unit_for(v->unit, r->host_ops->self_ps);
    text_title(b, v, "On the host; \"idle\" while every device of it idles");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "self", rep_unit_name(unit));
    text_head(&g, "idle", NULL);
    text_head(&g, "total", NULL);
    text_head(&g, "calls", NULL);
    text_head(&g, "kind", NULL);
    text_head(&g, "name", NULL);
    text_head(&g, "thread", NULL);
    for (size_t i = 0; i < n; i++) {
        const vp_host_op *x = &r->host_ops[i];
        text_ps(&g, x->self_ps, unit);
        text_ps(&g, x->idle_ps, unit);
        text_ps(&g, x->total_ps, unit);
        text_count(&g, x->calls);
        grid_puts(&g, x->blocking ? "blocking" : rep_cause_name(x->cause), TBL_PLAIN);
        grid_escaped(&g, x->name, TBL_PLAIN);
        rep_threads(&g.text, x);
        grid_end(&g, TBL_DIM);
    }
    return text_finish(b, &g, v, rep_host_ops_beyond(r, n));
}

/* What is in the peak, as far as the profile tells. */
static int put_holders(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {{.drop = 0},
                                          {.drop = 0},
                                          {.drop = 1},
                                          {.left = true, .want = 30, .min = 12},
                                          {.left = true, .want = 16, .min = 8, .drop = 2}};
    size_t shown = 0, more = 0;
    grid g;
    for (size_t i = 0; i < r->memory_count; i++)
        more += r->memory[i].top_count;
    if (!more)
        return b->status;
    text_title(b, v, "Largest holders of memory");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "bytes", NULL);
    text_head(&g, "of peak", NULL);
    text_head(&g, "allocations", NULL);
    text_head(&g, "holder", NULL);
    text_head(&g, "allocator", NULL);
    for (size_t i = 0; i < r->memory_count; i++) {
        const vp_memory *x = &r->memory[i];
        for (size_t k = 0; k < x->top_count && k < HOLDERS_MAX && shown < MEMORY_MAX; k++) {
            shown++;
            text_bytes(&g, x->top[k].bytes);
            text_share(&g, x->top[k].bytes, x->peak_bytes);
            text_count(&g, x->top[k].count);
            grid_escaped(&g, x->top[k].name, TBL_PLAIN);
            grid_escaped(&g, x->allocator, TBL_PLAIN);
        }
    }
    return text_finish(b, &g, v, more - shown);
}

static int put_memory(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {
        {.drop = 0}, {.drop = 0}, {.drop = 1}, {.drop = 2}, {.left = true, .want = 16, .min = 8}};
    size_t n = r->memory_count < MEMORY_MAX ? r->memory_count : MEMORY_MAX;
    grid g;
    if (!n)
        return b->status;
    text_title(b, v, "Memory");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "peak", NULL);
    text_head(&g, "of all", NULL);
    text_head(&g, "allocations", NULL);
    text_head(&g, "at the end", NULL);
    text_head(&g, "allocator", NULL);
    for (size_t i = 0; i < n; i++) {
        const vp_memory *x = &r->memory[i];
        text_bytes(&g, x->peak_bytes);
        text_share(&g, x->peak_bytes, x->total_bytes);
        text_count(&g, x->allocations);
        text_bytes(&g, x->end_bytes);
        grid_escaped(&g, x->allocator, TBL_PLAIN);
    }
    VP_TRY(text_finish(b, &g, v, r->memory_count - n));
    return put_holders(b, r, v);
}

int text_host(vp_buf *b, const vp_report *r, const vp_view *v)
{
    VP_TRY(put_compile(b, r, v));
    VP_TRY(put_host_ops(b, r, v));
    return put_memory(b, r, v);
}
