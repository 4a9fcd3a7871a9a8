#include "trace/report/table/tbl.h"

#include <string.h>

unsigned tbl_has(const vp_report *r)
{
    return (r->device_count > 1 ? TBL_DEVICES : 0) | (r->host_count > 1 ? TBL_HOSTS : 0);
}

tbl_style tbl_class_style(vp_op_class c)
{
    return c == VP_COMMUNICATION ? TBL_COMM : c == VP_COPY ? TBL_COPY : TBL_PLAIN;
}

static bool is_column_in_format(const tbl *t, const tbl_column *c, tbl_format format)
{
    switch (format) {
    case TBL_AS_TEXT:
        return c->text && !(c->text_needs & ~t->has);
    case TBL_AS_HTML:
        return c->head && !(c->needs & ~t->has);
    case TBL_AS_CSV:
        break;
    }
    return c->key;
}

static unsigned column_order(const tbl_column *c, tbl_format format)
{
    return format == TBL_AS_TEXT ? c->text_order : format == TBL_AS_CSV ? c->key_order : 0;
}

size_t tbl_columns_of(const tbl_column *out[TBL_COLUMNS_MAX], const tbl *t, tbl_format format)
{
    size_t n = 0;
    for (size_t i = 0; i < t->column_count && n < TBL_COLUMNS_MAX; i++) {
        const tbl_column *c = &t->columns[i];
        size_t at = n;
        if (!is_column_in_format(t, c, format))
            continue;
        for (; at > 0 && column_order(out[at - 1], format) > column_order(c, format); at--)
            out[at] = out[at - 1];
        out[at] = c;
        n++;
    }
    return n;
}

static int64_t int64_at(const void *row, size_t at)
{
    int64_t v;
    memcpy(&v, (const char *)row + at, sizeof v);
    return v;
}

static const void *pointer_at(const void *row, size_t at)
{
    const void *p;
    memcpy(&p, (const char *)row + at, sizeof p);
    return p;
}

bool tbl_is_own(const tbl_column *c)
{
    return c->kind >= TBL_OWN;
}

/* The members of the value that a kind reads from the row. */
enum { N = 1, WHOLE = 2, TEXT = 4, BELOW = 8, D = 16, DEVICE = 32 };
static const uint8_t takes[] = {
    [TBL_PS] = N,
    [TBL_PLACED] = N,
    [TBL_COUNT] = N,
    [TBL_BYTES] = N,
    [TBL_SHARE] = N | WHOLE,
    [TBL_BAR] = N | WHOLE,
    [TBL_NUMBER] = D,
    [TBL_RATIO] = D,
    [TBL_VALUE] = D,
    [TBL_RANK] = N,
    [TBL_ID] = N,
    [TBL_NAME] = TEXT | BELOW,
    [TBL_TEXT] = TEXT,
    [TBL_WORD] = TEXT,
    [TBL_DEVICE] = DEVICE,
    [TBL_WHEN] = N | WHOLE,
    [TBL_COURSE] = N,
    [TBL_OWN] = 0,
    [TBL_OWN_NAME] = 0,
    [TBL_OWN_BAR] = 0,
    [TBL_OWN_FIGURE] = 0,
};

static void get_fields(tbl_value *out, const tbl *t, const tbl_column *c, const void *row)
{
    unsigned taken = takes[c->kind];
    uint32_t device;
    if (taken & N)
        out->n = int64_at(row, c->at);
    if (taken & WHOLE)
        out->whole = int64_at(row, c->also);
    if (taken & TEXT)
        out->text = pointer_at(row, c->at);
    if (taken & BELOW)
        out->below = c->also && !(c->also_needs & ~t->has) ? pointer_at(row, c->also) : NULL;
    if (taken & D)
        memcpy(&out->d, (const char *)row + c->at, sizeof out->d);
    if (taken & DEVICE) {
        memcpy(&device, (const char *)row + c->at, sizeof device);
        out->n = device;
    }
}

void tbl_get(tbl_value *out, const tbl *t, const tbl_column *c, const void *row)
{
    *out = (tbl_value){.t = t, .column = c, .at_device = VP_NO_DEVICE};
    if (c->get) {
        c->get(out, row);
    } else {
        if (c->via)
            row = pointer_at(row, c->via - 1u);
        out->blank = !row;
        if (row)
            get_fields(out, t, c, row);
    }
    out->blank |= out->n == TBL_BLANK || out->d == TBL_BLANK_NUMBER;
}

const void *tbl_pointed(const tbl *t, size_t i)
{
    return ((const void *const *)t->rows)[i];
}

static const void *table_row_at(const tbl *t, size_t i)
{
    return t->row_at ? t->row_at(t, i) : (const char *)t->rows + i * t->row_size;
}

static bool table_shows_row(const tbl *t, const void *row)
{
    return !t->shows || t->shows(t, row);
}

size_t tbl_each(const tbl *t, void (*put)(void *ctx, const void *row), void *ctx)
{
    size_t seen = 0, more = t->beyond, most = t->most ? t->most : SIZE_MAX;
    for (size_t i = 0; i < t->row_count; i++) {
        const void *row = table_row_at(t, i);
        if (!table_shows_row(t, row))
            continue;
        if (seen++ < (t->is_minor && t->is_minor(t, row) ? t->always : most))
            put(ctx, row);
        else
            more++;
    }
    return more;
}

bool tbl_any(const tbl *t)
{
    for (size_t i = 0; i < t->row_count; i++)
        if (table_shows_row(t, table_row_at(t, i)))
            return true;
    return false;
}

int64_t tbl_largest(const tbl *t, size_t at)
{
    int64_t largest = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        int64_t v = int64_at(table_row_at(t, i), at);
        largest = v > largest ? v : largest;
    }
    return largest;
}
