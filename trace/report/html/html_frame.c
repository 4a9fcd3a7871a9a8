/* The head and the end of every page. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/web_files.h"

/* key: its keyboard shortcut, "" for none. */
static void html_put_banner_link(page *p, const char *path, const char *css_class, const char *key,
                                 const char *text)
{
    if (!path)
        return;
    vp_buf_printf(p->b, "<a class=\"%s\" href=\"", css_class);
    html_text(p, p->links.base ? p->links.base : "");
    html_text(p, path);
    if (*key)
        vp_buf_printf(p->b, "\" aria-keyshortcuts=\"%s", key);
    vp_buf_printf(p->b, "\">%s</a>\n", text);
}

static void put_asset(page *p, const char *name)
{
    const char *version = p->links.version ? p->links.version(name) : NULL;
    html_text(p, p->links.base ? p->links.base : "");
    vp_buf_printf(p->b, "/static/%s%s%s", name, version ? "?v=" : "", version ? version : "");
}

static void put_brand(page *p)
{
    html_puts(p, "<a class=\"brand\" href=\"");
    html_text(p, p->links.base ? p->links.base : "");
    html_text(p, p->links.index);
    html_puts(p, "\"><img src=\"");
    put_asset(p, "favicon.svg");
    html_puts(p, "\" width=\"22\" height=\"22\" alt=\"\"> view_profile</a>\n");
}

static void put_script(page *p, const char *name)
{
    html_puts(p, "<script type=\"module\" src=\"");
    put_asset(p, name);
    html_puts(p, "\"></script>\n");
}

static void put_banner(page *p)
{
    html_puts(p, "<header>\n<div class=\"bar\">\n");
    if (p->links.index) {
        put_brand(p);
        html_puts(p, "<nav class=\"back\" aria-label=\"Back\">\n");
        html_put_banner_link(p, p->links.index, "", "", "All runs");
        html_puts(p, "</nav>\n");
    } else {
        html_puts(p, "<span class=\"brand\">view_profile</span>\n");
    }
    if (p->links.timeline || p->links.perfetto || p->links.tensorboard) {
        html_puts(p, "<nav aria-label=\"Open elsewhere\">\n");
        html_put_banner_link(p, p->links.timeline, "button", "l", "Timeline");
        html_put_banner_link(p, p->links.perfetto, "button main", "p", "Open in Perfetto");
        html_put_banner_link(p, p->links.tensorboard, "button", "t", "TensorBoard");
        html_puts(p, "</nav>\n");
    }
    html_puts(p, "</div>\n");
}

void html_begin(page *p, const char *title)
{
    html_puts(p, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    html_text(p, title);
    html_puts(p, " – view_profile</title>\n");
    if (p->links.base) {
        html_puts(p, "<link rel=\"stylesheet\" href=\"");
        put_asset(p, "report.css");
        html_puts(p, "\">\n<link rel=\"icon\" type=\"image/svg+xml\" href=\"");
        put_asset(p, "favicon.svg");
        html_puts(p, "\">\n");
        put_script(p, "keys.js");
        if (p->links.controls)
            put_script(p, "report.js");
    } else {
        html_puts(p, "<style>\n");
        html_puts(p, (const char *)web_file_find("report.css")->raw);
        html_puts(p, "</style>\n");
    }
    html_puts(p, "</head>\n"
                 "<body>\n"
                 "<a class=\"skip\" href=\"#main\">Skip to content</a>\n");
    put_banner(p);
}

void html_end(page *p)
{
    html_puts(p, "</body>\n</html>\n");
}
