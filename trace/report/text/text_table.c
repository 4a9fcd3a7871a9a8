/* A table on the terminal. */
#include "trace/base/log.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/numbers.h"

/* Words are aligned left, figures right. */
static bool is_left_aligned(const tbl_column *c)
{
    switch ((tbl_kind)c->kind) {
    case TBL_NAME:
    case TBL_TEXT:
    case TBL_WORD:
    case TBL_DEVICE:
    case TBL_OWN:
    case TBL_OWN_NAME:
        return true;
    default:
        return c->left;
    }
}

static grid_column layout_of(const tbl_column *c)
{
    return (grid_column){.left = is_left_aligned(c),
                         .drop = c->drop,
                         .want = c->want,
                         .min = c->min,
                         .keep_end = c->keep_end,
                         .tell_apart = c->tell_apart,
                         .place = c->place};
}

static const char *device_name(const vp_report *r, int64_t device)
{
    return device >= 0 && (size_t)device < r->device_count ? r->devices[device].name : "host";
}

/* Of NULL a dash. */
static void text_put_or_dash(vp_buf *b, const char *z)
{
    vp_put_escaped(b, z ? vp_str_of(z) : VP_STR("-"));
}

static void text_put_id(vp_buf *b, int64_t id)
{
    if (id == VP_UNKNOWN)
        vp_buf_putc(b, '-');
    else
        vp_buf_u64(b, (uint64_t)id);
}

static void text_put_word_cell(vp_buf *b, const tbl *t, const tbl_column *c, const tbl_value *v)
{
    switch ((tbl_kind)c->kind) {
    case TBL_ID:
        text_put_id(b, v->n);
        break;
    case TBL_WORD:
        vp_buf_puts(b, v->text);
        break;
    case TBL_DEVICE:
        text_put_or_dash(b, device_name(t->r, v->n));
        break;
    default:
        text_put_or_dash(b, v->text);
    }
}

static void text_put_value_cell(vp_buf *b, const tbl *t, const tbl_column *c, const tbl_value *v)
{
    switch ((tbl_kind)c->kind) {
    case TBL_PS:
    case TBL_PLACED:
    case TBL_COURSE:
        rep_put_ps(b, v->n, t->unit[c->scale]);
        break;
    case TBL_COUNT:
    case TBL_RANK:
        rep_put_count(b, v->n, false);
        break;
    case TBL_BYTES:
        rep_put_bytes(b, v->n);
        break;
    case TBL_SHARE:
    case TBL_BAR:
        rep_put_percent(b, v->n, v->whole);
        break;
    case TBL_NUMBER:
        rep_put_number(b, v->d, c->digits);
        break;
    case TBL_RATIO:
        rep_put_ratio(b, v->d, c->digits);
        break;
    case TBL_VALUE:
        rep_put_value(b, v->d);
        break;
    case TBL_WHEN:
        rep_put_when(b, v->n, t->unit[c->scale], v->whole);
        break;
    default:
        text_put_word_cell(b, t, c, v);
    }
}

void text_init_rows(text_row_writer *w, const tbl *t)
{
    w->t = t;
    w->n = tbl_columns_of(w->columns, t, TBL_AS_TEXT);
    for (size_t i = 0; i < w->n; i++)
        w->layout[i] = layout_of(w->columns[i]);
    grid_init(&w->g, w->layout, w->n);
    for (size_t i = 0; i < w->n; i++) {
        const tbl_column *c = w->columns[i];
        text_head(&w->g, c->text, c->says_unit ? rep_unit_name(t->unit[c->scale]) : NULL);
    }
}

static tbl_style text_put_cell(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    tbl_value v;
    if (tbl_is_own(c))
        return t->own_text(b, t, c, row);
    tbl_get(&v, t, c, row);
    if (!v.blank)
        text_put_value_cell(b, t, c, &v);
    return v.style;
}

void text_row(void *ctx, const void *row)
{
    text_row_writer *w = ctx;
    tbl_style style = w->t->row_style ? w->t->row_style(w->t, row) : TBL_PLAIN;
    for (size_t i = 0; i < w->n; i++) {
        const tbl_column *c = w->columns[i];
        tbl_style own = text_put_cell(&w->g.text, w->t, c, row);
        grid_end(&w->g, own ? own : c->style ? c->style : style);
    }
}

int text_table(vp_buf *b, const vp_view *v, const tbl *t)
{
    text_row_writer w;
    text_init_rows(&w, t);
    size_t more = tbl_each(t, text_row, &w);
    return text_finish(b, &w.g, v, more);
}

int text_titled_table(vp_buf *b, const vp_view *v, const tbl *t)
{
    text_title(b, v, t->title);
    return text_table(b, v, t);
}
