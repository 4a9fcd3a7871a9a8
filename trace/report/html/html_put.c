/* Texts, numbers and bars on a page. */

#include "trace/report/html/html_parts.h"
#include "trace/report/labels/escape.h"
#include "trace/report/labels/numbers.h"

void html_puts(page *p, const char *markup)
{
    vp_buf_puts(p->b, markup);
}

void html_text(page *p, const char *z)
{
    if (z)
        rep_html_escape(p->b, vp_str_of(z));
    else
        vp_buf_puts(p->b, "–");
}

void html_number(page *p, int64_t ps, vp_unit unit)
{
    if (ps < 0)
        vp_buf_puts(p->b, "–");
    else
        rep_put_ps(p->b, ps, unit);
}

void html_duration(page *p, int64_t ps, int64_t scale)
{
    vp_unit unit = rep_unit_for(p->v.unit, scale);
    html_number(p, ps, unit);
    if (ps >= 0)
        vp_buf_printf(p->b, " %s", rep_unit_sign(unit));
}

int64_t html_hundredths(int64_t part, int64_t whole)
{
    if (part <= 0 || whole <= 0)
        return 0;
    return part >= whole ? REP_PERCENT_ALL : (int64_t)((__int128)part * REP_PERCENT_ALL / whole);
}

void html_rect(page *p, const char *css_class, int64_t from, int64_t width)
{
    vp_buf_printf(p->b, "<rect class=\"%s\" x=\"", css_class);
    rep_put_hundredths(p->b, from);
    vp_buf_puts(p->b, "%\" width=\"");
    rep_put_hundredths(p->b, width);
    vp_buf_puts(p->b, "%\" height=\"100%\"/>");
}

void html_url(page *p, const char *z)
{
    rep_put_url(p->b, vp_str_of(z), "-._~");
}

void html_path(page *p, const char *z)
{
    rep_put_url(p->b, vp_str_of(z), "-._~/:");
}
