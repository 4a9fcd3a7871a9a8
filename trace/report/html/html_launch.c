/* Launches, and what ops could be rid of, on the page. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/wastes.h"

/* ---- Launches ---- */

static bool is_launched(const page *p, size_t i)
{
    return p->r->devices[i].launch.calls > 0 && html_shows(p, (uint32_t)i);
}

bool html_has_launch(const page *p)
{
    for (size_t i = 0; i < p->r->device_count; i++)
        if (is_launched(p, i))
            return true;
    return false;
}

static void launch_head(page *p, const char *unit)
{
    html_table(p, "list", "Launches");
    html_head(p, "op", "Device", NULL, NULL);
    html_head(p, "", "Calls", NULL, "Launch calls on the host");
    html_head(p, "", "Linked", "ops", "Op events with a launch call");
    html_head(p, "", "Unlinked", "ops", "Op events without one");
    html_head(p, "", "Kernels", NULL, "Compute kernels");
    html_head(p, "", "Kernel p50", unit, NULL);
    html_head(p, "", "&lt; 10 µs", NULL, "Kernels below 10 µs");
    html_head(p, "", "Call p50", unit, NULL);
    html_head(p, "", "Call p95", unit, NULL);
    html_head(p, "", "Delay p50", unit, "From the end of the call to the start of the op");
    html_head(p, "", "Delay p95", unit, NULL);
    html_head(p, "", "Late", NULL, "Delays above 100 µs");
    html_head(p, "", "Queue mean", NULL, "Launched and not yet started, at a launch");
    html_head(p, "", "Queue max", NULL, NULL);
    html_head(p, "", "Graphs", NULL, "Launches of recorded graphs");
    html_rows(p);
}

static void launch_row(page *p, const vp_device *d, vp_unit unit)
{
    const vp_launch *l = &d->launch;
    html_puts(p, "<tr>");
    html_name_cell(p, d->name, p->r->host_count > 1 ? d->host : NULL);
    html_count_cell(p, l->calls);
    html_count_cell(p, l->linked_ops);
    html_count_cell(p, l->unlinked_ops);
    html_count_cell(p, l->kernels);
    html_ps_cell(p, l->kernel_p50_ps, unit);
    html_percent_cell(p, l->short_kernels, l->kernels);
    html_ps_cell(p, l->call_p50_ps, unit);
    html_ps_cell(p, l->call_p95_ps, unit);
    html_ps_cell(p, l->delay_p50_ps, unit);
    html_ps_cell(p, l->delay_p95_ps, unit);
    html_count_cell(p, l->late_launches);
    html_double_cell(p, (double)l->queue_mean_milli / 1000, 1);
    html_count_cell(p, l->queue_max);
    html_count_cell(p, l->graph_launches);
    html_puts(p, "</tr>\n");
}

int html_launch(page *p)
{
    const vp_report *r = p->r;
    int64_t scale = 0;
    for (size_t i = 0; i < r->device_count; i++)
        if (r->devices[i].launch.call_p95_ps > scale)
            scale = r->devices[i].launch.call_p95_ps;
    vp_unit unit = rep_unit_for(p->v.unit, scale);
    html_section(p, "launch", "Launches");
    launch_head(p, rep_unit_sign(unit));
    for (size_t i = 0; i < r->device_count; i++)
        if (is_launched(p, i))
            launch_row(p, &r->devices[i], unit);
    html_table_end(p, 0);
    html_section_end(p);
    return p->b->status;
}

/* ---- What ops could be rid of ---- */

bool html_has_hygiene(const page *p)
{
    bool used[REP_WASTES];
    return rep_used_wastes(used, p->r, &p->v);
}

static void hygiene_row(page *p, const vp_device *d, const bool *used, vp_unit unit)
{
    rep_waste w[REP_WASTES];
    rep_wastes(w, &d->hygiene);
    html_puts(p, "<tr>");
    html_name_cell(p, d->name, p->r->host_count > 1 ? d->host : NULL);
    html_ps_cell(p, d->self_ps, unit);
    for (size_t k = 0; k < REP_WASTES; k++) {
        if (!used[k])
            continue;
        html_ps_cell(p, w[k].ps, unit);
        html_percent_cell(p, w[k].ps, d->self_ps);
    }
    html_puts(p, "</tr>\n");
}

int html_hygiene(page *p)
{
    const vp_report *r = p->r;
    bool used[REP_WASTES];
    rep_waste names[REP_WASTES];
    int64_t scale = 0;
    rep_used_wastes(used, r, &p->v);
    rep_wastes(names, &(vp_hygiene){0});
    for (size_t i = 0; i < r->device_count; i++)
        scale = r->devices[i].self_ps > scale ? r->devices[i].self_ps : scale;
    vp_unit unit = rep_unit_for(p->v.unit, scale);
    html_section(p, "hygiene", "Work that may be avoidable");
    html_puts(p,
              "<p class=\"note\">Self times; shares are of Σ self of the device’s ops. An op can "
              "count in several columns. ");
    rep_put_shared_code(p->b, r, &p->v);
    html_puts(p, "</p>\n");
    html_table(p, "list", "Work that may be avoidable");
    html_head(p, "op", "Device", NULL, NULL);
    html_head(p, "", "Self", rep_unit_sign(unit), NULL);
    for (size_t k = 0; k < REP_WASTES; k++) {
        if (!used[k])
            continue;
        html_head(p, "", names[k].name, rep_unit_sign(unit), names[k].what);
        html_head(p, "", "%", NULL, "Of the self time of all ops");
    }
    html_rows(p);
    for (size_t i = 0; i < r->device_count; i++)
        if (html_shows(p, (uint32_t)i))
            hygiene_row(p, &r->devices[i], used, unit);
    html_table_end(p, 0);
    html_section_end(p);
    return p->b->status;
}
