/* Compilation and work of the host on the page. */
#include <stdio.h>

#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/words.h"

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
        html_open_fact(p, "Of the capture");
        rep_put_percent(p->b, c->total_ps, p->r->capture_ps);
        html_close_fact(p);
    }
    html_duration_fact(p, "Tracing and lowering", c->lower_ps);
    html_duration_fact(p, "Before the first execution", c->before_steps_ps);
    html_count_fact(p, "Late: after execution had begun", c->late);
    html_duration_fact(p, "Late compile time", c->late > 0 ? c->late_ps : VP_UNKNOWN);
    html_count_fact(p, "Cache hits", c->cache_hits);
    html_count_fact(p, "Cache misses", c->cache_misses);
    html_puts(p, "</dl>\n");
}

static void function_row(page *p, const vp_function *f, vp_unit unit)
{
    html_puts(p, "<tr>");
    html_name_cell(p, f->name, p->r->host_count > 1 ? f->host : NULL);
    html_count_cell(p, f->compiles);
    html_count_cell(p, f->calls);
    html_count_cell(p, f->cache_hits);
    html_ps_cell(p, f->total_ps, unit);
    html_ps_cell(p, f->repeat_ps, unit);
    html_count_cell(p, f->late);
    html_ps_cell(p, f->late_ps, unit);
    html_place_cell(p, VP_NO_DEVICE, f->host, f->first_start_ps, f->first_dur_ps);
    html_place_cell(p, VP_NO_DEVICE, f->host, f->last_start_ps, f->last_dur_ps);
    html_puts(p, "</tr>\n");
}

static void put_functions(page *p, const vp_compile *c)
{
    size_t n = c->function_count < FUNCTIONS_MAX ? c->function_count : FUNCTIONS_MAX;
    if (!n)
        return;
    vp_unit unit = rep_unit_for(p->v.unit, c->functions[0].total_ps);
    const char *sign = rep_unit_sign(unit);
    html_table(p, "list", "Compiled functions");
    html_head(p, "op", "Function", NULL, NULL);
    html_head(p, "", "Compiles", NULL, NULL);
    html_head(p, "", "Calls", NULL, NULL);
    html_head(p, "", "Cache hits", NULL, NULL);
    html_head(p, "", "Total", sign, NULL);
    html_head(p, "", "Repeats", sign, "All compiles but the first");
    html_head(p, "", "Late", NULL, "Compiles after execution had begun");
    html_head(p, "", "Late", sign, NULL);
    html_head(p, "", "First at", NULL, NULL);
    html_head(p, "", "Last at", NULL, NULL);
    html_rows(p);
    for (size_t i = 0; i < n; i++)
        function_row(p, &c->functions[i], unit);
    html_table_end(p, c->function_count - n);
}

int html_compile(page *p)
{
    html_section(p, "compile", "Compilation");
    compile_facts(p, &p->r->compile);
    put_functions(p, &p->r->compile);
    html_section_end(p);
    return p->b->status;
}

/* ---- Host work ---- */

static bool is_shown(const page *p, const vp_host_op *o)
{
    return !p->v.host || vp_str_eq(vp_str_of(p->v.host), vp_str_of(o->host));
}

bool html_has_host_ops(const page *p)
{
    for (size_t i = 0; i < p->r->host_op_count; i++)
        if (is_shown(p, &p->r->host_ops[i]))
            return true;
    return false;
}

static void host_op_row(page *p, const vp_host_op *o, vp_unit sum, vp_unit call)
{
    char threads[32];
    snprintf(threads, sizeof threads, "%lld threads", (long long)o->threads);
    html_puts(p, "<tr>");
    html_name_cell(p, o->name, o->threads > 1 ? threads : o->thread);
    if (p->r->host_count > 1)
        html_text_cell(p, o->host);
    vp_buf_printf(p->b, "<td class=\"text\">%s%s</td>", rep_cause_name(o->cause),
                  o->blocking ? ", blocking" : "");
    html_ps_cell(p, o->self_ps, sum);
    html_ps_cell(p, o->idle_ps, sum);
    html_ps_cell(p, o->total_ps, sum);
    html_count_cell(p, o->calls);
    html_puts(p, "<td>");
    bool link = html_open_place(p, VP_NO_DEVICE, o->host, o->max_start_ps, o->max_ps);
    html_number(p, o->max_ps, call);
    html_puts(p, link ? "</a></td></tr>\n" : "</td></tr>\n");
}

static void host_ops_head(page *p, vp_unit sum, vp_unit call)
{
    const char *sign = rep_unit_sign(sum);
    html_table(p, "list", "Work on the host");
    html_head(p, "op", "Event", NULL, "Its name, and its thread");
    if (p->r->host_count > 1)
        html_head(p, "text", "Host", NULL, NULL);
    html_head(p, "text", "Kind", NULL, NULL);
    html_head(p, "", "Self", sign, NULL);
    html_head(p, "", "Devices idle", sign, "Of self, while all devices of the host idle");
    html_head(p, "", "Total", sign, NULL);
    html_head(p, "", "Calls", NULL, NULL);
    html_head(p, "", "Max", rep_unit_sign(call), "Longest call");
    html_rows(p);
}

int html_host_ops(page *p)
{
    const vp_report *r = p->r;
    size_t matching = 0;
    int64_t total = 0, longest = 0;
    for (size_t i = 0; i < r->host_op_count; i++) {
        total = r->host_ops[i].total_ps > total ? r->host_ops[i].total_ps : total;
        longest = r->host_ops[i].max_ps > longest ? r->host_ops[i].max_ps : longest;
    }
    vp_unit sum = rep_unit_for(p->v.unit, total), call = rep_unit_for(p->v.unit, longest);
    html_section(p, "host", "Work on the host");
    html_puts(p, "<p class=\"note\">By self time; noise and frames of the profiler are "
                 "left out.</p>\n");
    host_ops_head(p, sum, call);
    for (size_t i = 0; i < r->host_op_count; i++)
        if (is_shown(p, &r->host_ops[i]) && matching++ < HOST_OPS_MAX)
            host_op_row(p, &r->host_ops[i], sum, call);
    if (!p->v.host) /* of one host it is not known */
        matching += rep_host_ops_beyond(r, r->host_op_count);
    html_table_end(p, matching > HOST_OPS_MAX ? matching - HOST_OPS_MAX : 0);
    html_section_end(p);
    return p->b->status;
}
