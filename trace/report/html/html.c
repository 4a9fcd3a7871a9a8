#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

/* ---- Head ---- */

static void put_badge(page *p)
{
    size_t count[3] = {0, 0, 0};
    for (size_t i = 0; i < p->r->quality_count; i++)
        count[p->r->quality[i].severity]++;
    const char *level = count[VP_SEV_ERROR]                      ? "bad"
                        : count[VP_SEV_WARNING] || p->r->partial ? "warn"
                                                                 : "good";
    vp_buf_printf(p->b, "<a class=\"badge %s\" href=\"", level);
    if (p->links.tab)
        html_query(p, "tab", "quality");
    html_puts(p, "#quality\">Data: ");
    if (p->r->partial)
        html_puts(p, "partial");
    else
        html_puts(p, *level == 'g' ? "complete" : "see data quality");
    for (int s = VP_SEV_ERROR; s >= VP_SEV_WARNING; s--)
        if (count[s])
            vp_buf_printf(p->b, ", %zu %s%s", count[s], rep_severity_name((vp_severity)s),
                          count[s] == 1 ? "" : "s");
    html_puts(p, "</a>\n");
}

static void html_put_hosts_fact(page *p)
{
    const vp_report *r = p->r;
    html_open_fact(p, r->host_count == 1 ? "Host" : "Hosts");
    if (r->host_count > 3)
        vp_buf_printf(p->b, "%zu, from ", r->host_count);
    for (size_t i = 0; i < r->host_count && i < (r->host_count > 3 ? 1u : 3u); i++) {
        html_puts(p, i ? ", " : "");
        html_text(p, r->hosts[i]);
    }
    if (!r->host_count)
        html_puts(p, "–");
    html_close_fact(p);
}

/* Only a part is shown; if a server can make pages, this links to all of it. */
static void html_put_step_fact(page *p)
{
    html_open_fact(p, "Step filter");
    vp_buf_printf(p->b, "step %lld", (long long)p->r->step);
    if (p->links.controls) {
        html_puts(p, " (<a href=\"");
        html_step_query(p, VP_UNKNOWN);
        html_puts(p, "\">all steps</a>)");
    }
    html_close_fact(p);
}

static void html_put_window_fact(page *p)
{
    const vp_report *r = p->r;
    if (r->step != VP_UNKNOWN)
        html_put_step_fact(p);
    html_open_fact(p, "Window");
    if (r->start_ps == VP_NO_TIME || r->end_ps < r->start_ps) {
        html_puts(p, "–");
    } else {
        html_duration(p, r->end_ps - r->start_ps, r->end_ps - r->start_ps);
        html_puts(p, r->step != VP_UNKNOWN ? ", the step"
                     : r->has_devices      ? ", first to last op"
                                           : ", first to last event");
    }
    html_close_fact(p);
    html_open_fact(p, "Clock");
    html_puts(p, r->own_clock ? "device clock" : "host-aligned");
    html_close_fact(p);
    if (r->capture_ps >= 0) {
        html_open_fact(p, r->step == VP_UNKNOWN ? "Capture" : "Step on the host");
        html_duration(p, r->capture_ps, r->capture_ps);
        html_close_fact(p);
    }
}

static void html_put_report_facts(page *p)
{
    const vp_report *r = p->r;
    html_puts(p, "<div class=\"title\"><h1>");
    html_text(p, r->session_name);
    html_puts(p, "</h1>\n");
    put_badge(p);
    html_puts(p, "</div>\n<dl class=\"facts\">\n");
    html_open_fact(p, "Captured");
    rep_put_time(p->b, r->captured_unix_ns);
    html_close_fact(p);
    html_put_hosts_fact(p);
    html_put_window_fact(p);
    html_open_fact(p, "Events");
    rep_put_count(p->b, r->events, true);
    html_close_fact(p);
    html_open_fact(p, "Percentages");
    html_puts(p, r->has_devices ? "of device op time" : "of self time of a process");
    html_close_fact(p);
    html_puts(p, "</dl>\n</header>\n");
}

/* ---- Body ---- */

static bool is_always_shown(const page *p)
{
    (void)p;
    return true;
}

static int put_tables(page *p)
{
    html_puts(p, "<section id=\"ops\" aria-labelledby=\"ops-h\">\n<h2 id=\"ops-h\">");
    html_puts(p, p->r->has_devices ? "Slowest ops" : "Slowest events");
    html_puts(p, "</h2>\n");
    if (!p->r->has_devices)
        vp_buf_printf(p->b, "<p class=\"note\">%s</p>\n", rep_host_tables(p->r));
    html_controls(p);
    for (size_t i = 0; i < p->r->device_count; i++)
        if (p->full[i])
            VP_TRY(html_ops(p, i));
    if (!p->r->op_count)
        html_puts(p, "<p class=\"note\">No op events.</p>\n");
    html_puts(p, "</section>\n");
    return 0;
}

/* The tabs that show a part. */
enum {
    IN_SUMMARY = 1,
    IN_OPS = 2,
    IN_SCOPES = 4,
    IN_DEVICES = 8,
    IN_HOST = 16,
    IN_FILES = 32,
    IN_QUALITY = 64,
    IN_MEMORY = 128,
    IN_ALL = 255
};

static const struct {
    const char *name, *title;
    unsigned bit;
} tabs[] = {{"summary", "Summary", IN_SUMMARY}, {"ops", "Ops", IN_OPS},
            {"scopes", "Scopes", IN_SCOPES},    {"devices", "Devices", IN_DEVICES},
            {"memory", "Memory", IN_MEMORY},    {"host", "Host", IN_HOST},
            {"files", "Files", IN_FILES},       {"quality", "Data quality", IN_QUALITY},
            {"all", "Full report", IN_ALL}};
#define TABS (sizeof tabs / sizeof *tabs)

bool rep_tab_known(const char *name)
{
    for (size_t i = 0; i < TABS; i++)
        if (vp_str_eq(vp_str_of(tabs[i].name), vp_str_of(name)))
            return true;
    return false;
}

/* In the order of the page: findings, times, and then causes. */
static const html_part parts[] = {
    {"findings", "Findings", html_has_findings, html_findings, IN_SUMMARY},
    {"where", "Device time breakdown", html_has_devices, html_devices, IN_SUMMARY | IN_DEVICES},
    {"mfu", "MFU breakdown", html_has_mfu, html_mfu, IN_OPS | IN_DEVICES},
    {"steps", "Steps", html_has_steps, html_steps, IN_SUMMARY},
    {"ops", "Slowest", is_always_shown, put_tables, IN_SUMMARY | IN_OPS},
    {"scopes", "Graph", html_has_scopes, html_scopes, IN_SCOPES},
    {"scopes", "Call paths", html_has_paths, html_scopes, IN_OPS},
    {"folded", "Forward and backward", html_has_folded, html_folded, IN_SCOPES},
    {"modules", "Modules", html_has_modules, html_modules, IN_OPS},
    {"idle", "Idle", html_has_idle, html_idle, IN_DEVICES},
    {"launch", "Launches", html_has_launch, html_launch, IN_DEVICES},
    {"collectives", "Collectives", html_has_collectives, html_collectives, IN_DEVICES},
    {"transfers", "Transfers", html_has_transfers, html_transfers, IN_DEVICES},
    {"balance", "Balance", html_has_balance, html_balance, IN_DEVICES},
    {"compile", "Compilation", html_has_compile, html_compile, IN_HOST},
    {"hygiene", "Avoidable work", html_has_hygiene, html_hygiene, IN_OPS},
    {"host", "Host", html_has_host_ops, html_host_ops, IN_HOST},
    {"threads", "Threads", html_has_threads, html_threads, IN_HOST},
    {"args", "Arguments", html_has_args, html_args, IN_HOST},
    {"counters", "Counters", html_has_counters, html_counters, IN_HOST},
    {"meta", "The program", html_has_meta, html_meta, IN_HOST},
    {"spared", "Potential memory savings", html_has_spared, html_spared, IN_MEMORY},
    {"plans", "Planned memory", html_has_plans, html_plans, IN_MEMORY},
    {"memory", "Memory", html_has_memory, html_memory, IN_MEMORY},
    {"quality", "Data quality", is_always_shown, html_quality, IN_QUALITY},
    {"files", "Files", html_has_files, html_files, IN_FILES},
};
#define PARTS (sizeof parts / sizeof *parts)

static unsigned wanted_tabs(const page *p)
{
    for (size_t i = 0; i < TABS && p->links.tab; i++)
        if (!strcmp(tabs[i].name, p->links.tab))
            return tabs[i].bit;
    return IN_ALL;
}

static bool tab_has_parts(const page *p, unsigned bit)
{
    for (size_t i = 0; i < PARTS; i++)
        if ((parts[i].tabs & bit) && parts[i].has(p))
            return true;
    return false;
}

static void put_tabs(page *p)
{
    page whole = *p;
    if (p->links.whole)
        whole.r = p->links.whole;
    html_puts(p, "<nav class=\"tabs\" aria-label=\"Parts of the report\"><ul>\n");
    for (size_t i = 0; i < TABS; i++) {
        if (!tab_has_parts(&whole, tabs[i].bit))
            continue;
        html_puts(p, "<li><a href=\"");
        html_query(p, "tab", tabs[i].name);
        vp_buf_printf(p->b, "\"%s>%s</a></li>\n",
                      strcmp(tabs[i].name, p->links.tab) ? "" : " aria-current=\"page\"",
                      tabs[i].title);
    }
    html_puts(p, "</ul></nav>\n");
}

static void put_contents(page *p)
{
    if (p->links.tab)
        put_tabs(p);
    if (wanted_tabs(p) != IN_ALL)
        return;
    html_puts(p, "<nav class=\"contents\" aria-label=\"On this page\"><ul>\n");
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i].has(p))
            vp_buf_printf(p->b, "<li><a href=\"#%s\">%s</a></li>\n", parts[i].id, parts[i].title);
    html_puts(p, "</ul></nav>\n");
}

static void html_put_report_footer(page *p)
{
    html_puts(p, "<footer>\n<p>view_profile " VP_VERSION);
    if (p->links.base && p->r->session_id) {
        html_puts(p, " · <a href=\"");
        html_text(p, p->links.base);
        html_puts(p, "/api/v1/session/");
        html_text(p, p->r->session_id);
        html_puts(p, "/report");
        if (p->r->step != VP_UNKNOWN)
            vp_buf_printf(p->b, "?step=%lld", (long long)p->r->step);
        html_puts(p, "\">this report as JSON</a>");
    }
    html_puts(p, "</p>\n"
                 "<p>Self time: at any instant, time counts for the event of the track that "
                 "started last and has not ended. Percentiles: nearest rank over calls. CV: "
                 "population standard deviation "
                 "divided by the mean.</p>\n"
                 "</footer>\n");
}

static int put_page(page *p)
{
    html_begin(p, p->r->session_name);
    html_put_report_facts(p);
    put_contents(p);
    html_puts(p, "<main id=\"main\">\n");
    for (size_t i = 0; i < PARTS; i++)
        if ((parts[i].tabs & wanted_tabs(p)) && parts[i].has(p))
            VP_TRY(parts[i].put(p));
    html_puts(p, "</main>\n");
    html_put_report_footer(p);
    html_end(p);
    return p->b->status;
}

/* Only the findings, which the page begins with. */
static int put_findings_page(page *p)
{
    html_begin(p, p->r->session_name);
    html_put_report_facts(p);
    html_puts(p, "<main id=\"main\">\n");
    VP_TRY(html_findings(p));
    VP_TRY(html_quality(p));
    html_puts(p, "</main>\n");
    html_end(p);
    return p->b->status;
}

/* Memory alone. */
static int put_memory_page(page *p)
{
    html_begin(p, p->r->session_name);
    html_put_report_facts(p);
    html_puts(p, "<main id=\"main\">\n");
    VP_TRY(html_spared(p));
    for (size_t i = 0; i < PARTS; i++)
        if ((parts[i].tabs & (IN_MEMORY | IN_QUALITY)) && parts[i].has(p))
            VP_TRY(parts[i].put(p));
    html_puts(p, "</main>\n");
    html_end(p);
    return p->b->status;
}

static int put_with(vp_buf *b, const vp_report *r, const vp_view *view, const rep_links *links,
                    int (*put)(page *))
{
    VP_CLEANUP(vp_free_ptr) bool *full = vp_calloc(r->device_count + 1, sizeof *full);
    page p = {.b = b, .r = r, .v = rep_view(view), .full = full};
    VP_NEED(full);
    if (links)
        p.links = *links;
    VP_TRY(rep_check_filters(r, &p.v));
    rep_pick_devices(full, &p.matching, r, &p.v);
    return put(&p);
}

int rep_html(vp_buf *b, const vp_report *r, const vp_view *view, const rep_links *links)
{
    return put_with(b, r, view, links, put_page);
}

int rep_findings_html(vp_buf *b, const vp_report *r, const vp_view *view, const rep_links *links)
{
    return put_with(b, r, view, links, put_findings_page);
}

int rep_memory_html(vp_buf *b, const vp_report *r, const vp_view *view, const rep_links *links)
{
    return put_with(b, r, view, links, put_memory_page);
}
