/* A table on a page. */
#include <math.h>

#include "trace/report/html/html_parts.h"
#include "trace/report/labels/numbers.h"

/* The CSS class of a column's head. */
static const char *html_head_class(const tbl_column *c)
{
    switch ((tbl_kind)c->kind) {
    case TBL_RANK:
        return "rank";
    case TBL_NAME:
        return "op";
    case TBL_BAR:
    case TBL_OWN_BAR:
        return "share";
    case TBL_COURSE:
        return "course";
    case TBL_OWN_NAME:
        return "op";
    case TBL_TEXT:
    case TBL_WORD:
    case TBL_DEVICE:
    case TBL_ID:
    case TBL_OWN:
        return "text";
    default:
        return "";
    }
}

static const char *const units[] = {[TBL_UNIT_NONE] = NULL,
                                    [TBL_UNIT_PERCENT] = "%",
                                    [TBL_UNIT_PERCENT_OF_WINDOW] = "% of window",
                                    [TBL_UNIT_GB_PER_S] = "GB/s",
                                    [TBL_UNIT_GFLOP_PER_S] = "GFLOP/s",
                                    [TBL_UNIT_COUNT] = "count",
                                    [TBL_UNIT_OPS] = "ops"};

static void html_put_head(page *p, const tbl *t, const tbl_column *c)
{
    bool is_time = c->kind == TBL_PS || c->kind == TBL_PLACED || c->kind == TBL_COURSE ||
                   (tbl_is_own(c) && c->says_unit);
    const char *unit = is_time ? rep_unit_sign(t->unit[c->scale]) : units[c->unit];
    if (c->sort)
        html_sort_head(p, c->head, unit, c->tip, (vp_sort)(c->sort - 1));
    else
        html_head(p, html_head_class(c), c->head, unit, c->tip);
}

static void ratio_cell(page *p, const tbl_value *v, int digits)
{
    if (v->text)
        vp_buf_printf(p->b, "<td class=\"%s\" title=\"%s\">", v->text, v->below ? v->below : "");
    else
        html_puts(p, "<td>");
    if (isfinite(v->d))
        rep_put_ratio(p->b, v->d, digits);
    else
        html_puts(p, "–");
    html_puts(p, "</td>");
}

static void course_cell(page *p, const tbl_value *v, vp_unit unit)
{
    html_puts(p, "<td class=\"course\">");
    if (v->course_count > 1)
        html_curve(p, "spark", NULL, v->course, v->course_count, 0);
    html_number(p, v->n, unit);
    html_puts(p, "</td>");
}

static void value_cell(page *p, double d)
{
    html_puts(p, "<td>");
    if (isfinite(d))
        rep_put_value(p->b, d);
    else
        html_puts(p, "–");
    html_puts(p, "</td>");
}

static void placed_cell(page *p, const tbl_value *v, vp_unit unit)
{
    html_puts(p, "<td>");
    bool link = html_open_place(p, v->at_device, v->host, v->start, v->whole);
    html_number(p, v->n, unit);
    html_puts(p, link ? "</a></td>" : "</td>");
}

static void word_cell(page *p, const tbl_value *v)
{
    html_puts(p, "<td class=\"text word\"");
    if (v->below)
        vp_buf_printf(p->b, " title=\"%s\"", v->below);
    vp_buf_printf(p->b, ">%s", v->text);
    if (v->n > 0 && v->n < v->whole) {
        html_puts(p, " <span class=\"soft\">");
        rep_put_percent(p->b, v->n, v->whole);
        html_puts(p, "</span>");
    }
    html_puts(p, "</td>");
}

static void rank_cell(page *p, int64_t rank)
{
    html_puts(p, "<td class=\"rank\">");
    if (rank >= 0)
        vp_buf_i64(p->b, rank);
    html_puts(p, "</td>");
}

static void id_cell(page *p, int64_t id)
{
    html_puts(p, "<td class=\"text\">");
    if (id == VP_UNKNOWN)
        html_puts(p, "–");
    else
        vp_buf_u64(p->b, (uint64_t)id);
    html_puts(p, "</td>");
}

static void html_put_word_cell(page *p, const tbl_column *c, const tbl_value *v)
{
    switch ((tbl_kind)c->kind) {
    case TBL_NAME:
        html_name_cell(p, v->text, v->below);
        break;
    case TBL_ID:
        id_cell(p, v->n);
        break;
    case TBL_TEXT:
        html_text_cell(p, v->text, c->keep_end);
        break;
    case TBL_DEVICE:
        html_device_cell(p, (uint32_t)v->n);
        break;
    default:
        word_cell(p, v);
    }
}

static void html_put_value_cell(page *p, const tbl *t, const tbl_column *c, const tbl_value *v)
{
    switch ((tbl_kind)c->kind) {
    case TBL_PS:
        html_ps_cell(p, v->n, t->unit[c->scale]);
        break;
    case TBL_PLACED:
        placed_cell(p, v, t->unit[c->scale]);
        break;
    case TBL_COUNT:
        html_count_cell(p, v->n);
        break;
    case TBL_BYTES:
        html_bytes_cell(p, v->n);
        break;
    case TBL_SHARE:
        html_percent_cell(p, v->n, v->whole);
        break;
    case TBL_BAR:
        html_bar_cell(p, v->text, v->n, v->scale, v->whole);
        break;
    case TBL_NUMBER:
        html_double_cell(p, v->d, c->digits);
        break;
    case TBL_RATIO:
        ratio_cell(p, v, c->digits);
        break;
    case TBL_VALUE:
        value_cell(p, v->d);
        break;
    case TBL_COURSE:
        course_cell(p, v, t->unit[c->scale]);
        break;
    case TBL_RANK:
        rank_cell(p, v->n);
        break;
    case TBL_WHEN:
        html_place_cell(p, v->at_device, v->host, v->n, v->whole);
        break;
    default:
        html_put_word_cell(p, c, v);
    }
}

static void html_put_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    tbl_value v;
    if (tbl_is_own(c)) {
        t->own_html(p, t, c, row);
        return;
    }
    tbl_get(&v, t, c, row);
    if (v.blank)
        html_puts(p, "<td></td>");
    else
        html_put_value_cell(p, t, c, &v);
}

void html_init_rows(html_row_writer *w, page *p, const tbl *t)
{
    *w = (html_row_writer){.p = p, .t = t};
    w->n = tbl_columns_of(w->columns, t, TBL_AS_HTML);
}

void html_heads(const html_row_writer *w)
{
    for (size_t i = 0; i < w->n; i++)
        html_put_head(w->p, w->t, w->columns[i]);
}

static void open_row(const html_row_writer *w, const void *row)
{
    const char *css_class = w->t->row_class ? w->t->row_class(w->t, row) : NULL;
    if (css_class)
        vp_buf_printf(w->p->b, "<tr class=\"%s\">", css_class);
    else
        html_puts(w->p, "<tr>");
}

void html_row(void *ctx, const void *row)
{
    html_row_writer *w = ctx;
    open_row(w, row);
    for (size_t i = 0; i < w->n; i++)
        html_put_cell(w->p, w->t, w->columns[i], row);
    html_puts(w->p, "</tr>\n");
}

/* True if all following cells are blank. */
static size_t blank_columns_at_end(const html_row_writer *w, const void *row)
{
    size_t n = w->n;
    tbl_value v;
    while (n > 0 && !tbl_is_own(w->columns[n - 1])) {
        tbl_get(&v, w->t, w->columns[n - 1], row);
        if (!v.blank)
            break;
        n--;
    }
    return n;
}

void html_last_row(html_row_writer *w, const void *row)
{
    size_t n = blank_columns_at_end(w, row);
    html_puts(w->p, "<tfoot>");
    open_row(w, row);
    for (size_t i = 0; i < n; i++)
        html_put_cell(w->p, w->t, w->columns[i], row);
    if (n < w->n)
        vp_buf_printf(w->p->b, "<td colspan=\"%zu\"></td>", w->n - n);
    html_puts(w->p, "</tr></tfoot>\n");
}

void html_open_table(const html_row_writer *w)
{
    html_table(w->p, w->t->css_class ? w->t->css_class : "list", w->t->title);
    html_heads(w);
    html_rows(w->p);
}

void html_put_table(page *p, const tbl *t)
{
    html_row_writer w;
    html_init_rows(&w, p, t);
    html_open_table(&w);
    html_table_end(p, tbl_each(t, html_row, &w));
}

void html_titled_table(page *p, const tbl *t)
{
    vp_buf_printf(p->b, "<div class=\"what\"><h3>%s</h3></div>\n", t->title);
    html_put_table(p, t);
}

int html_table_section(page *p, const char *id, const tbl *t)
{
    html_section(p, id, t->title);
    html_put_table(p, t);
    html_section_end(p);
    return p->b->status;
}
