#include "trace/analyze/compare/compared_names.h"

#include "trace/analyze/device/classify.h"
#include "trace/base/err.h"
#include "trace/base/hash.h"
#include "trace/base/limits.h"

enum { BY_NAME = 1, BY_BOTH };

static uint64_t compared_name_key(vp_str name, const vp_str *category)
{
    uint64_t h = vp_hash(name.p, name.n, BY_NAME);
    return category ? vp_hash(category->p, category->n, h ^ BY_BOTH) : h;
}

static vp_str compared_row_name(const compared_names *n, size_t row)
{
    const vp_compared_op *op = &n->c->ops[row];
    return vp_str_of(n->of_b && op->name_b ? op->name_b : op->name);
}

static int64_t compared_row_time(const compared_names *n, size_t row)
{
    const vp_delta *d = &n->c->ops[row].self;
    return n->of_b ? d->b_ps : d->a_ps;
}

static int compared_names_take(compared_names *n, uint64_t key, size_t row)
{
    uint32_t had = vp_map_get(&n->rows, key);
    if (had != VP_MAP_NONE && compared_row_time(n, had) >= compared_row_time(n, row))
        return 0;
    return vp_map_set(&n->rows, key, (uint32_t)row);
}

int compared_names_make(compared_names *out, const vp_comparison *c, bool of_b, bool devices)
{
    *out = (compared_names){.c = c, .of_b = of_b, .normal = devices};
    vp_map_init(&out->rows);
    for (size_t i = 0; i < c->op_count && i < VP_MAP_NONE; i++) {
        vp_str category = vp_str_of(c->ops[i].category);
        if (of_b ? c->ops[i].is_gone : c->ops[i].is_new)
            continue;
        VP_TRY(compared_names_take(out, compared_name_key(compared_row_name(out, i), NULL), i));
        VP_TRY(
            compared_names_take(out, compared_name_key(compared_row_name(out, i), &category), i));
    }
    return 0;
}

void compared_names_free(compared_names *n)
{
    vp_map_free(&n->rows);
}

size_t compared_row(const compared_names *n, vp_str name, vp_str category)
{
    vp_buf b;
    vp_buf_init(&b, VP_JSON_EVENT_MAX);
    if (n->normal && name.n)
        cl_normalize(&b, name);
    else
        vp_buf_str(&b, name);
    vp_str shown = vp_buf_view(&b);
    uint32_t row = vp_map_get(&n->rows, compared_name_key(shown, &category));
    if (row == VP_MAP_NONE)
        row = vp_map_get(&n->rows, compared_name_key(shown, NULL));
    bool found = row != VP_MAP_NONE && vp_str_eq(compared_row_name(n, row), shown);
    vp_buf_free(&b);
    return found ? row : n->c->op_count;
}
