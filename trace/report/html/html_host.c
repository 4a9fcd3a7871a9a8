/* Compilation and work of the host on the page. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/table/host_tables.h"
#include "trace/report/labels/numbers.h"

#define FUNCTIONS_MAX 30u
#define HOST_OPS_MAX 30u

/* ---- Compilation ---- */

bool html_has_compile(const page *p)
{
    return p->r->compile.count > 0 || p->r->compile.function_count > 0;
}

static void compile_facts(page *p, const vp_compile *c)
{
    html_puts(p, "<dl class=\"facts\">\n");
    html_count_fact(p, "Compilations", c->count);
    html_duration_fact(p, "Compile time", c->total_ps);
    if (p->r->capture_ps > 0) {
        html_open_fact(p, "Share of the capture");
        rep_put_percent(p->b, c->total_ps, p->r->capture_ps);
        html_close_fact(p);
    }
    html_duration_fact(p, "Tracing and lowering", c->lower_ps);
    html_duration_fact(p, "Before the first execution", c->before_steps_ps);
    html_count_fact(p, "Late (after execution started)", c->late);
    html_duration_fact(p, "Late compile time", c->late > 0 ? c->late_ps : VP_UNKNOWN);
    html_count_fact(p, "Cache hits", c->cache_hits);
    html_count_fact(p, "Cache misses", c->cache_misses);
    html_puts(p, "</dl>\n");
}

int html_compile(page *p)
{
    tbl t;
    tbl_functions(&t, p->r, &p->v);
    t.most = FUNCTIONS_MAX;
    html_section(p, "compile", "Compilation");
    compile_facts(p, &p->r->compile);
    if (t.row_count)
        html_put_table(p, &t);
    html_section_end(p);
    return p->b->status;
}

/* ---- Host work ---- */

bool html_has_host_ops(const page *p)
{
    tbl t;
    tbl_host_ops(&t, p->r, &p->v);
    return tbl_any(&t);
}

int html_host_ops(page *p)
{
    tbl t;
    tbl_host_ops(&t, p->r, &p->v);
    t.most = HOST_OPS_MAX;
    html_section(p, "host", t.title);
    html_puts(p, "<p class=\"note\">By self time, without noise and the profiler's own "
                 "frames.</p>\n");
    html_put_table(p, &t);
    html_section_end(p);
    return p->b->status;
}
