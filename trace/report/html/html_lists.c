/* Modules, files and quality on the page. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/table/files_table.h"
#include "trace/report/table/graph_tables.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

#define MODULES_MAX 50u
#define FILES_MAX 200u
#define QUALITY_MAX 300u

bool html_has_modules(const page *p)
{
    return p->r->module_count > 0;
}

int html_modules(page *p)
{
    tbl t;
    tbl_modules(&t, p->r, &p->v);
    t.most = MODULES_MAX;
    html_section(p, "modules", t.title);
    html_put_table(p, &t);
    html_section_end(p);
    return p->b->status;
}

bool html_has_files(const page *p)
{
    return p->r->file_count > 0;
}

/* A file is requested by its name alone, so files with the same name have no link. */
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

static void html_file_own_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    const vp_report_file *f = row;
    if (c->own == FILES_PATH) {
        file_cell(p, (size_t)(f - t->r->files));
    } else if (c->own == FILES_KIND) {
        html_puts(p, "<td class=\"text\">");
        html_text(p, f->kind);
        html_puts(p, "</td>");
    } else {
        html_puts(p, f->partial ? "<td class=\"text warn\">partial</td>"
                                : "<td class=\"text\">complete</td>");
    }
}

int html_files(page *p)
{
    tbl t;
    tbl_files(&t, p->r, &p->v);
    t.most = FILES_MAX;
    t.own_html = html_file_own_cell;
    html_section(p, "files", t.title);
    html_put_table(p, &t);
    html_section_end(p);
    return p->b->status;
}

static void html_put_quality_place(page *p, const vp_quality *q)
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

static void html_put_quality_entry(page *p, const vp_quality *q)
{
    static const char *const levels[] = {"info", "warn", "bad"};
    vp_buf_printf(p->b, "<li><span class=\"badge %s\">%s</span><div><p>", levels[q->severity],
                  rep_severity_name(q->severity));
    html_text(p, q->message);
    html_puts(p, "</p><p class=\"sub\"><code>");
    html_text(p, q->code);
    html_puts(p, "</code> ");
    html_put_quality_place(p, q);
    html_puts(p, q->partial ? " numbers are incomplete</p></div></li>\n" : "</p></div></li>\n");
}

int html_quality(page *p)
{
    const vp_report *r = p->r;
    size_t shown = 0;
    html_section(p, "quality", "Data quality");
    if (!r->quality_count)
        html_puts(p, r->partial ? "<p class=\"note\">At least one file was read only partly.</p>\n"
                                : "<p class=\"note\">No issues: every file was read "
                                  "completely.</p>\n");
    html_puts(p, r->quality_count ? "<ul class=\"quality\">\n" : "");
    for (int s = VP_SEV_ERROR; s >= VP_SEV_INFO; s--)
        for (size_t i = 0; i < r->quality_count && shown < QUALITY_MAX; i++)
            if (r->quality[i].severity == (vp_severity)s) {
                html_put_quality_entry(p, &r->quality[i]);
                shown++;
            }
    html_puts(p, r->quality_count ? "</ul>\n" : "");
    if (r->quality_count > shown)
        vp_buf_printf(p->b, "<p class=\"note\">… %zu more</p>\n", r->quality_count - shown);
    html_section_end(p);
    return p->b->status;
}
