#include "trace/report/html_parts.h"

#define MODULES_MAX 50u
#define FILES_MAX 200u
#define QUALITY_MAX 300u

static void open_table(page *p, const char *id, const char *title, const char *css_class)
{
    vp_buf_printf(p->b,
                  "<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">%s</h2>\n"
                  "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n"
                  "<table class=\"%s\">\n<caption class=\"vh\">%s</caption>\n<thead><tr>",
                  id, id, id, title, title, css_class, title);
}

static void close_table(page *p, size_t more)
{
    html_puts(p, "</tbody>\n</table>\n</div>\n");
    if (more)
        vp_buf_printf(p->b, "<p class=\"note\">… %zu more</p>\n", more);
    html_puts(p, "</section>\n");
}

static void head_cell(page *p, const char *css_class, const char *text, const char *unit)
{
    vp_buf_printf(p->b, "<th scope=\"col\" class=\"%s\">%s", css_class, text);
    if (unit)
        vp_buf_printf(p->b, " <span>%s</span>", unit);
    html_puts(p, "</th>");
}

static void ps_cell(page *p, int64_t ps, vp_unit unit)
{
    html_puts(p, "<td>");
    html_number(p, ps, unit);
    html_puts(p, "</td>");
}

static void count_cell(page *p, int64_t n)
{
    html_puts(p, "<td>");
    if (n < 0)
        html_puts(p, "–");
    else
        rep_put_count(p->b, n, true);
    html_puts(p, "</td>");
}

static void name_cell(page *p, const char *name)
{
    html_puts(p, "<tr><th scope=\"row\" class=\"op\" title=\"");
    html_text(p, name);
    html_puts(p, "\"><span class=\"name\">");
    html_text(p, name);
    html_puts(p, "</span></th>");
}

void html_modules(page *p)
{
    const vp_report *r = p->r;
    size_t n = r->module_count < MODULES_MAX ? r->module_count : MODULES_MAX;
    int64_t scale = 0;
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        scale = r->modules[i].total_ps > scale ? r->modules[i].total_ps : scale;
    vp_unit unit = rep_unit_for(p->v.unit, scale);
    open_table(p, "modules", "Modules", "list");
    head_cell(p, "op", "Module", NULL);
    head_cell(p, "", "Program", NULL);
    head_cell(p, "", "Runs", NULL);
    head_cell(p, "", "Total", rep_unit_sign(unit));
    head_cell(p, "", "p50", rep_unit_sign(unit));
    html_puts(p, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < n; i++) {
        const vp_module *m = &r->modules[i];
        name_cell(p, m->name);
        html_puts(p, "<td>");
        if (m->program_id == VP_UNKNOWN)
            html_puts(p, "–");
        else
            vp_buf_u64(p->b, (uint64_t)m->program_id);
        html_puts(p, "</td>");
        count_cell(p, m->runs);
        ps_cell(p, m->total_ps, unit);
        ps_cell(p, m->p50_ps, unit);
        html_puts(p, "</tr>\n");
    }
    close_table(p, r->module_count - n);
}

void html_files(page *p)
{
    const vp_report *r = p->r;
    size_t n = r->file_count < FILES_MAX ? r->file_count : FILES_MAX;
    if (!n)
        return;
    open_table(p, "files", "Files", "list");
    head_cell(p, "op", "File", NULL);
    head_cell(p, "text", "Kind", NULL);
    head_cell(p, "", "Size", NULL);
    head_cell(p, "", "Events", NULL);
    head_cell(p, "text", "State", NULL);
    html_puts(p, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < n; i++) {
        const vp_report_file *f = &r->files[i];
        name_cell(p, f->path);
        html_puts(p, "<td class=\"text\">");
        html_text(p, f->kind);
        html_puts(p, "</td><td>");
        rep_put_bytes(p->b, f->bytes);
        html_puts(p, "</td>");
        count_cell(p, f->events);
        html_puts(p, f->partial ? "<td class=\"text warn\">partial</td></tr>\n"
                                : "<td class=\"text\">complete</td></tr>\n");
    }
    close_table(p, r->file_count - n);
}

static void put_place(page *p, const vp_quality *q)
{
    if (!q->file)
        return;
    html_puts(p, "<span class=\"place\">");
    html_text(p, q->file);
    if (q->event >= 0) {
        html_puts(p, ", event ");
        rep_put_count(p->b, q->event, true);
    }
    if (q->byte >= 0) {
        html_puts(p, ", byte ");
        rep_put_count(p->b, q->byte, true);
    }
    html_puts(p, "</span>");
}

static void put_entry(page *p, const vp_quality *q)
{
    static const char *const levels[] = {"info", "warn", "bad"};
    vp_buf_printf(p->b, "<li><span class=\"badge %s\">%s</span><div><p>", levels[q->severity],
                  rep_severity_name(q->severity));
    html_text(p, q->message);
    html_puts(p, "</p><p class=\"sub\"><code>");
    html_text(p, q->code);
    html_puts(p, "</code> ");
    put_place(p, q);
    html_puts(p, q->partial ? " figures are partial</p></div></li>\n" : "</p></div></li>\n");
}

void html_quality(page *p)
{
    const vp_report *r = p->r;
    size_t shown = 0;
    html_puts(p, "<section id=\"quality\" aria-labelledby=\"quality-h\">\n"
                 "<h2 id=\"quality-h\">Data quality</h2>\n");
    if (!r->quality_count)
        html_puts(p, r->partial ? "<p class=\"note\">Some file was read in part.</p>\n"
                                : "<p class=\"note\">Nothing to remark: every file was read to "
                                  "its end.</p>\n");
    html_puts(p, r->quality_count ? "<ul class=\"quality\">\n" : "");
    for (int s = VP_SEV_ERROR; s >= VP_SEV_INFO; s--)
        for (size_t i = 0; i < r->quality_count && shown < QUALITY_MAX; i++)
            if (r->quality[i].severity == (vp_severity)s) {
                put_entry(p, &r->quality[i]);
                shown++;
            }
    html_puts(p, r->quality_count ? "</ul>\n" : "");
    if (r->quality_count > shown)
        vp_buf_printf(p->b, "<p class=\"note\">… %zu more</p>\n", r->quality_count - shown);
    html_puts(p, "</section>\n");
}
