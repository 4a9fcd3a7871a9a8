/* Links that change the content of a page, if a server makes it. */
#include <ctype.h>

#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/labels/words.h"

static void query_put_pair(page *p, const char *key, const char *value)
{
    vp_buf_printf(p->b, "&amp;%s=", key);
    html_url(p, value);
}

static void put_base_query(page *p, const char *group, const char *by)
{
    vp_buf_printf(p->b, "?group=%s&amp;by=%s&amp;n=%zu", group, by, p->v.top);
}

static void query_put_step(page *p, int64_t step)
{
    if (step != VP_UNKNOWN)
        vp_buf_printf(p->b, "&amp;step=%lld", (long long)step);
}

/* Other tabs have no host zones. */
static void query_put_where(page *p, const char *key, const char *value)
{
    if (!strcmp(key, "where"))
        query_put_pair(p, key, value);
    else if (p->r->where == VP_WHERE_HOST && strcmp(key, "tab"))
        html_puts(p, "&amp;where=host");
}

/* The replaced key gets its new value, the others are copied. */
static void query_put_other_keys(page *p, const char *key, const char *value)
{
    query_put_where(p, key, value);
    if (!strcmp(key, "tab"))
        query_put_pair(p, "tab", value);
    else if (!strcmp(key, "where"))
        query_put_pair(p, "tab", "ops");
    else if (p->links.tab)
        query_put_pair(p, "tab", p->links.tab);
    if (p->v.filter)
        query_put_pair(p, "q", p->v.filter);
    query_put_step(p, p->r->step);
}

void html_step_query(page *p, int64_t step)
{
    put_base_query(p, rep_group_name(p->r->group), rep_sort_name(p->v.sort));
    query_put_where(p, "", NULL);
    if (p->links.tab)
        query_put_pair(p, "tab", p->links.tab);
    query_put_step(p, step);
}

void html_query(page *p, const char *key, const char *value)
{
    const char *group = rep_group_name(p->r->group), *by = rep_sort_name(p->v.sort);
    put_base_query(p, strcmp(key, "group") ? group : value, strcmp(key, "by") ? by : value);
    query_put_other_keys(p, key, value);
    if (p->v.device)
        query_put_pair(p, "device", p->v.device);
    if (p->v.host)
        query_put_pair(p, "host", p->v.host);
}

void html_device_query(page *p, const vp_device *d)
{
    put_base_query(p, rep_group_name(p->r->group), rep_sort_name(p->v.sort));
    query_put_other_keys(p, "", NULL);
    query_put_pair(p, "device", d->name ? d->name : "");
    if (d->host)
        query_put_pair(p, "host", d->host);
}

static void put_pill(page *p, const char *key, const char *value, bool current)
{
    vp_buf_puts(p->b, "<a href=\"");
    html_query(p, key, value);
    vp_buf_printf(p->b, "#ops\"%s>%s</a>\n", current ? " aria-current=\"true\"" : "", value);
}

static void put_pills(page *p)
{
    html_puts(
        p, "<div class=\"pills\" role=\"group\" aria-label=\"Group by\"><span>Group by</span>\n");
    for (int g = VP_GROUP_NAME; g <= VP_GROUP_OUTERMOST; g++)
        put_pill(p, "group", rep_group_name((vp_group)g), p->r->group == (vp_group)g);
    html_puts(p, "</div>\n<div class=\"pills\" role=\"group\" aria-label=\"Rank by\"><span>Rank by"
                 "</span>\n");
    for (int s = VP_BY_SELF; s <= VP_BY_MAX; s++)
        put_pill(p, "by", rep_sort_name((vp_sort)s), p->v.sort == (vp_sort)s);
    html_puts(p, "</div>\n");
    if (!(p->links.whole ? p->links.whole : p->r)->has_devices) /* only host zones */
        return;
    html_puts(p, "<div class=\"pills\" role=\"group\" aria-label=\"Work of\"><span>Work of"
                 "</span>\n");
    put_pill(p, "where", "device", p->r->where == VP_WHERE_DEVICE);
    put_pill(p, "where", "host", p->r->where == VP_WHERE_HOST);
    html_puts(p, "</div>\n");
}

static void put_option(page *p, const char *value, const char *chosen)
{
    html_puts(p, "<option value=\"");
    html_text(p, value);
    html_puts(p, chosen && !strcmp(value, chosen) ? "\" selected>" : "\">");
    html_text(p, value);
    html_puts(p, "</option>\n");
}

/* Devices of several hosts share names: they have one option; the host has a separate menu. */
static bool is_named_before(const vp_report *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (vp_str_eq(vp_str_of(r->devices[k].name), vp_str_of(r->devices[i].name)))
            return true;
    return false;
}

static void put_choices(page *p)
{
    const vp_report *r = p->r;
    if (r->device_count > 1) {
        html_puts(p, "<label>Device <select name=\"device\">\n<option value=\"\">auto</option>\n");
        for (size_t i = 0; i < r->device_count; i++)
            if (r->devices[i].name && !is_named_before(r, i))
                put_option(p, r->devices[i].name, p->v.device);
        html_puts(p, "</select></label>\n");
    }
    if (r->host_count > 1) {
        html_puts(p, "<label>Host <select name=\"host\">\n<option value=\"\">all</option>\n");
        for (size_t i = 0; i < r->host_count; i++)
            put_option(p, r->hosts[i], p->v.host);
        html_puts(p, "</select></label>\n");
    }
}

/* All rows of the view, with raw numbers. The script adds a button that copies them. */
static void put_csv(page *p)
{
    if (!p->links.session)
        return;
    html_puts(p, "<p class=\"csv\"><a download href=\"");
    html_text(p, p->links.base);
    html_text(p, p->links.session);
    html_puts(p, "ops.csv");
    html_query(p, "", NULL);
    html_puts(p, "\">CSV</a></p>\n");
}

void html_sort_head(page *p, const char *text, const char *unit, const char *title, vp_sort sort)
{
    bool current = p->v.sort == sort;
    if (!p->links.controls) {
        html_head(p, "", text, unit, title);
        return;
    }
    vp_buf_printf(p->b, "<th scope=\"col\"%s title=\"%s\"><a href=\"",
                  current ? " aria-sort=\"descending\"" : "", title);
    html_query(p, "by", rep_sort_name(sort));
    vp_buf_printf(p->b, "#ops\">%s</a>", text);
    if (unit)
        vp_buf_printf(p->b, " <span>%s</span>", unit);
    html_puts(p, "</th>\n");
}

bool html_open_op(page *p, const vp_op *op)
{
    if (!p->links.session || op->device >= p->r->device_count)
        return false;
    html_puts(p, "<a class=\"open\" href=\"");
    html_text(p, p->links.base);
    html_text(p, p->links.session);
    html_puts(p, "op");
    html_query(p, "", NULL);
    vp_buf_printf(p->b, "&amp;on=%u&amp;op=%016llx\">", op->device, (unsigned long long)op_key(op));
    return true;
}

void html_controls(page *p)
{
    if (!p->links.controls) {
        vp_buf_printf(p->b, "<p class=\"note\">Grouped by %s, ranked by %s.</p>\n",
                      rep_group_name(p->r->group), rep_sort_name(p->v.sort));
        return;
    }
    html_puts(p, "<div class=\"controls\">\n");
    put_pills(p);
    html_puts(p, "<form method=\"get\" role=\"search\">\n");
    if (p->links.tab)
        vp_buf_printf(p->b, "<input type=\"hidden\" name=\"tab\" value=\"%s\">\n", p->links.tab);
    if (p->r->where == VP_WHERE_HOST)
        html_puts(p, "<input type=\"hidden\" name=\"where\" value=\"host\">\n");
    if (p->r->step != VP_UNKNOWN)
        vp_buf_printf(p->b, "<input type=\"hidden\" name=\"step\" value=\"%lld\">\n",
                      (long long)p->r->step);
    html_puts(p, "<label>Filter <input id=\"q\" type=\"search\" name=\"q\" maxlength=\"199\" "
                 "autocomplete=\"off\" spellcheck=\"false\" aria-keyshortcuts=\"/\" "
                 "placeholder=\"name, scope or source\" value=\"");
    if (p->v.filter)
        html_text(p, p->v.filter);
    html_puts(p, "\"></label>\n");
    vp_buf_printf(p->b,
                  "<input type=\"hidden\" name=\"group\" value=\"%s\">\n"
                  "<input type=\"hidden\" name=\"by\" value=\"%s\">\n",
                  rep_group_name(p->r->group), rep_sort_name(p->v.sort));
    put_choices(p);
    vp_buf_printf(p->b,
                  "<label>Rows <input type=\"number\" name=\"n\" min=\"0\" max=\"100000\" "
                  "value=\"%zu\"></label>\n<button type=\"submit\">Show</button>\n</form>\n",
                  p->v.top);
    put_csv(p);
    html_puts(p, "</div>\n");
}
