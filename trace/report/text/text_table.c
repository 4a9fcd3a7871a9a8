/* A table on the terminal. */
#include <math.h>

#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/words/numbers.h"

typedef struct encoder {
    grid g;
    const tbl *t;
    const tbl_column *columns[TBL_COLUMNS_MAX];
    size_t n;
} encoder;

static bool is_left(const tbl_column *c)
{
    return c->left || c->kind == TBL_NAME || c->kind == TBL_TEXT || c->kind == TBL_WORD ||
           c->kind == TBL_DEVICE;
}

static grid_column layout_of(const tbl_column *c)
{
    return (grid_column){.left = is_left(c),
                         .drop = c->drop,
                         .want = c->want,
                         .min = c->min,
                         .keep_end = c->keep_end,
                         .tell_apart = c->tell_apart};
}

static const char *device_name(const vp_report *r, int64_t device)
{
    return device >= 0 && (size_t)device < r->device_count ? r->devices[device].name : "host";
}

/* Of NULL a dash. */
static void put_text(vp_buf *b, const char *z)
{
    vp_put_escaped(b, z ? vp_str_of(z) : VP_STR("-"));
}

static void put_number(vp_buf *b, double d, int digits)
{
    if (isfinite(d))
        vp_buf_printf(b, "%.*f", digits, d);
    else
        vp_buf_putc(b, '-');
}

static void put_value(vp_buf *b, const tbl *t, const tbl_column *c, const tbl_value *v)
{
    switch ((tbl_kind)c->kind) {
    case TBL_PS:
    case TBL_PLACED:
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
        put_number(b, v->d, c->digits);
        break;
    case TBL_VALUE:
        rep_put_value(b, v->d);
        break;
    case TBL_WORD:
        vp_buf_puts(b, v->text);
        break;
    case TBL_DEVICE:
        put_text(b, device_name(t->r, v->n));
        break;
    case TBL_WHEN:
        rep_put_when(b, v->n, t->unit[c->scale], v->whole);
        break;
    default: /* texts of files */
        put_text(b, v->text);
    }
}

static void put_row(void *ctx, const void *row)
{
    encoder *e = ctx;
    for (size_t i = 0; i < e->n; i++) {
        const tbl_column *c = e->columns[i];
        tbl_style style = c->style;
        tbl_value v = {0};
        if (c->kind == TBL_OWN) {
            tbl_style own = e->t->own_text(&e->g.text, e->t, c, row);
            grid_end(&e->g, own ? own : style);
            continue;
        }
        tbl_get(&v, e->t, c, row);
        if (!v.blank)
            put_value(&e->g.text, e->t, c, &v);
        grid_end(&e->g, v.style ? v.style : style);
    }
}

int text_table(vp_buf *b, const vp_view *v, const tbl *t)
{
    encoder e = {.t = t};
    grid_column layout[TBL_COLUMNS_MAX];
    e.n = tbl_columns_of(e.columns, t, TBL_AS_TEXT);
    for (size_t i = 0; i < e.n; i++)
        layout[i] = layout_of(e.columns[i]);
    grid_init(&e.g, layout, e.n);
    for (size_t i = 0; i < e.n; i++) {
        const tbl_column *c = e.columns[i];
        text_head(&e.g, c->text, c->says_unit ? rep_unit_name(t->unit[c->scale]) : NULL);
    }
    size_t more = tbl_each(t, put_row, &e);
    return text_finish(b, &e.g, v, more);
}

int text_titled_table(vp_buf *b, const vp_view *v, const tbl *t)
{
    text_title(b, v, t->title);
    return text_table(b, v, t);
}
