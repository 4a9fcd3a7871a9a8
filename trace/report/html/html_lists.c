/* Modules, files and quality on the page. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/words.h"

#define MODULES_MAX 50u
#define FILES_MAX 200u
#define QUALITY_MAX 300u

bool html_has_modules(const page *p)
{
    return p->r->module_count > 0;
}

int html_modules(page *p)
{
    const vp_report *r = p->r;
    size_t n = r->module_count < MODULES_MAX ? r->module_count : MODULES_MAX;
    int64_t scale = 0;
    for (size_t i = 0; i < n; i++)
        scale = r->modules[i].total_ps > scale ? r->modules[i].total_ps : scale;
    vp_unit unit = rep_unit_for(p->v.unit, scale);
    html_section(p, "modules", "Modules");
    html_table(p, "list", "Modules");
    html_head(p, "op", "Module", NULL, NULL);
    html_head(p, "text", "Program", NULL, NULL);
    html_head(p, "", "Runs", NULL, NULL);
    html_head(p, "", "Total", rep_unit_sign(unit), NULL);
    html_head(p, "", "p50", rep_unit_sign(unit), NULL);
    html_rows(p);
    for (size_t i = 0; i < n; i++) {
        const vp_module *m = &r->modules[i];
        html_puts(p, "<tr>");
        html_name_cell(p, m->name, NULL);
        html_puts(p, "<td class=\"text\">");
        if (m->program_id == VP_UNKNOWN)
            html_puts(p, "–");
        else
            vp_buf_u64(p->b, (uint64_t)m->program_id);
        html_puts(p, "</td>");
        html_count_cell(p, m->runs);
        html_ps_cell(p, m->total_ps, unit);
        html_ps_cell(p, m->p50_ps, unit);
        html_puts(p, "</tr>\n");
    }
    html_table_end(p, r->module_count - n);
    html_section_end(p);
    return p->b->status;
}

bool html_has_files(const page *p)
{
    return p->r->file_count > 0;
}

/* A file is asked for by its name alone, so one that shares it has no link. */
static bool can_download(const page *p, size_t file)
{
    const char *name = vp_path_name(p->r->files[file].path);
    for (size_t i = 0; i < p->r->file_count; i++)
        if (i != file && !strcmp(vp_path_name(p->r->files[i].path), name))
            return false;
    return p->links.raw && *name;
}

static void file_cell(page *p, size_t file)
{
    const char *path = p->r->files[file].path;
    bool link = can_download(p, file);
    html_puts(p, "<th scope=\"row\" class=\"op\">");
    if (link) {
        html_puts(p, "<a title=\"Download this file\" download href=\"");
        html_text(p, p->links.base ? p->links.base : "");
        html_text(p, p->links.raw);
        html_url(p, vp_path_name(path));
        html_puts(p, "\">");
    }
    html_puts(p, "<span class=\"name\">");
    html_text(p, path);
    html_puts(p, link ? "</span></a></th>" : "</span></th>");
}

int html_files(page *p)
{
    const vp_report *r = p->r;
    size_t n = r->file_count < FILES_MAX ? r->file_count : FILES_MAX;
    html_section(p, "files", "Files");
    html_table(p, "list", "Files");
    html_head(p, "op", "File", NULL, NULL);
    html_head(p, "text", "Kind", NULL, NULL);
    html_head(p, "", "Size", NULL, NULL);
    html_head(p, "", "Events", NULL, NULL);
    html_head(p, "text", "State", NULL, NULL);
    html_rows(p);
    for (size_t i = 0; i < n; i++) {
        const vp_report_file *f = &r->files[i];
        html_puts(p, "<tr>");
        file_cell(p, i);
        html_puts(p, "<td class=\"text\">");
        html_text(p, f->kind);
        html_puts(p, "</td>");
        html_bytes_cell(p, f->bytes);
        html_count_cell(p, f->events);
        html_puts(p, f->partial ? "<td class=\"text warn\">partial</td></tr>\n"
                                : "<td class=\"text\">complete</td></tr>\n");
    }
    html_table_end(p, r->file_count - n);
    html_section_end(p);
    return p->b->status;
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

int html_quality(page *p)
{
    const vp_report *r = p->r;
    size_t shown = 0;
    html_section(p, "quality", "Data quality");
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
    html_section_end(p);
    return p->b->status;
}
