#include "trace/analyze/host/compile_changes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "trace/analyze/result/programs.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/read/semantics/hlo_types.h"

#define VARIANTS_MAX 64u
#define PARAMETERS_MAX 4096u
#define SHOWN_VALUES 3u
#define TEXT_MAX 400u

/* The parameters of one program by number; NULL: missing. */
typedef struct variant {
    const hlo_program *p;
    const hlo_instr **parameter;
    size_t count;
} variant;

typedef struct variants {
    variant v[VARIANTS_MAX];
    size_t n;
} variants;

static bool is_program_of(vp_str program, vp_str function)
{
    int64_t id;
    vp_str name = trace_module_name(program, &id);
    return vp_str_starts(name, VP_STR("jit_")) && vp_str_eq(vp_str_skip(name, 4), function);
}

static int add_variant(variants *all, const hlo_program *p)
{
    variant *x = &all->v[all->n];
    const hlo_computation *entry = &p->computations[p->entry];
    *x = (variant){.p = p, .parameter = vp_calloc(PARAMETERS_MAX, sizeof *x->parameter)};
    VP_NEED(x->parameter);
    all->n++;
    for (uint32_t i = entry->first; i < entry->first + entry->count; i++) {
        const hlo_instr *in = &p->instrs[i];
        int64_t at = in->parameter_number;
        if (!vp_str_eq(in->opcode, VP_STR("parameter")) || at < 0 || at >= PARAMETERS_MAX ||
            in->shape == HLO_NONE)
            continue;
        x->parameter[at] = in;
        x->count = (size_t)at + 1 > x->count ? (size_t)at + 1 : x->count;
    }
    return 0;
}

/* The programs whose ops ran. A file also has those that ran before the capture. */
static int find_programs_run(vp_map *ran, const trace *t)
{
    for (uint32_t i = 0; i < t->kind_count; i++)
        if (t->kinds[i].program_id != SINK_UNKNOWN)
            VP_TRY(vp_map_set(ran, (uint64_t)t->kinds[i].program_id, 1));
    return 0;
}

static int list_variants(variants *all, analysis *a, vp_str function, const vp_map *ran)
{
    for (uint32_t i = 0; i < a->t->program_count && all->n < VARIANTS_MAX; i++) {
        const hlo_program *p;
        if (!is_program_of(a->t->programs[i].name, function) ||
            vp_map_get(ran, a->t->programs[i].id) == VP_MAP_NONE)
            continue;
        VP_TRY(programs_get(&p, a, i));
        if (p && p->entry != HLO_NONE)
            VP_TRY(add_variant(all, p));
    }
    return 0;
}

static const hlo_shape *shape_of(const variant *x, size_t number)
{
    return x->parameter[number] ? &x->p->shapes[x->parameter[number]->shape] : NULL;
}

static int64_t dim_of(const variant *x, const hlo_shape *s, unsigned i)
{
    return s ? x->p->numbers[s->dims + i] : 0;
}

/* 0: a dimension differs at most; 1: type or rank differs; 2: equal. */
static int shapes_differ(const variant *x, const variant *y, size_t number)
{
    const hlo_shape *a = shape_of(x, number), *b = shape_of(y, number);
    if (!a || !b || a->type != b->type || a->rank != b->rank)
        return 1;
    for (unsigned i = 0; i < a->rank; i++)
        if (dim_of(x, a, i) != dim_of(y, b, i))
            return 0;
    return 2;
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts, and drops what repeats. */
static size_t distinct_numbers(int64_t *v, size_t n)
{
    size_t kept = 0;
    if (n)
        qsort(v, n, sizeof *v, by_number);
    for (size_t i = 0; i < n; i++)
        if (!kept || v[i] != v[kept - 1])
            v[kept++] = v[i];
    return kept;
}

static void put_numbers(vp_buf *b, int64_t *v, size_t n)
{
    n = distinct_numbers(v, n);
    for (size_t i = 0; i < n && i < SHOWN_VALUES; i++)
        vp_buf_printf(b, "%s%" PRId64, i ? ", " : "", v[i]);
    if (n > SHOWN_VALUES)
        vp_buf_puts(b, " …");
}

/* "s32[64,L] with L = 45, 46, 47": variants that differ only in dimensions. */
static void put_dimensions(vp_buf *b, const variants *all, size_t number)
{
    static const char letters[] = "LMNPQ";
    const hlo_shape *first = shape_of(&all->v[0], number);
    int64_t value[VARIANTS_MAX];
    unsigned changed[8], n = 0;
    if (!first)
        return;
    vp_buf_printf(b, "%s[", hlo_type_name(first->type));
    for (unsigned i = 0; i < first->rank; i++) {
        bool same = true;
        for (size_t k = 1; k < all->n; k++)
            same = same && dim_of(&all->v[k], shape_of(&all->v[k], number), i) ==
                               dim_of(&all->v[0], first, i);
        if (i)
            vp_buf_putc(b, ',');
        if (same || n >= sizeof letters - 1) {
            vp_buf_printf(b, "%" PRId64, dim_of(&all->v[0], first, i));
            continue;
        }
        vp_buf_putc(b, letters[n]);
        changed[n++] = i;
    }
    vp_buf_puts(b, "]");
    for (unsigned c = 0; c < n; c++) {
        for (size_t k = 0; k < all->n; k++)
            value[k] = dim_of(&all->v[k], shape_of(&all->v[k], number), changed[c]);
        vp_buf_printf(b, "%s%c = ", c ? "; " : " with ", letters[c]);
        put_numbers(b, value, all->n);
    }
}

static void put_shape(vp_buf *b, const variant *x, const hlo_shape *s)
{
    if (!s) {
        vp_buf_puts(b, "missing");
        return;
    }
    vp_buf_printf(b, "%s[", hlo_type_name(s->type));
    for (unsigned i = 0; i < s->rank; i++)
        vp_buf_printf(b, "%s%" PRId64, i ? "," : "", dim_of(x, s, i));
    vp_buf_putc(b, ']');
}

static void put_parameter(vp_buf *b, const variants *all, size_t number)
{
    const hlo_instr *in = all->v[0].parameter[number];
    vp_str name = in && in->op_name.n ? in->op_name : in ? in->name : VP_STR_NONE;
    size_t other = 0;
    bool dimensions = true;
    for (size_t k = 1; k < all->n; k++)
        if (shapes_differ(&all->v[0], &all->v[k], number) == 1) {
            dimensions = false;
            other = other ? other : k;
        }
    vp_buf_printf(b, "%.*s is ", VP_STR_CUT(name, 60u));
    if (dimensions) {
        put_dimensions(b, all, number);
        return;
    }
    put_shape(b, &all->v[0], shape_of(&all->v[0], number));
    vp_buf_puts(b, " and ");
    put_shape(b, &all->v[other], shape_of(&all->v[other], number));
}

/* The text for two or more variants; the first argument that differs stands for all. */
static void put_changes(vp_buf *b, const variants *all)
{
    size_t differing = 0, first = 0;
    bool counts = false;
    for (size_t k = 1; k < all->n; k++)
        counts = counts || all->v[k].count != all->v[0].count;
    if (counts) {
        int64_t n[VARIANTS_MAX];
        for (size_t k = 0; k < all->n; k++)
            n[k] = (int64_t)all->v[k].count;
        vp_buf_puts(b, "the number of arrays changes: ");
        put_numbers(b, n, all->n);
        return;
    }
    for (size_t i = 0; i < all->v[0].count; i++) {
        bool differs = false;
        for (size_t k = 1; k < all->n; k++)
            differs = differs || shapes_differ(&all->v[0], &all->v[k], i) != 2;
        first = differs && !differing ? i : first;
        differing += differs;
    }
    if (!differing) {
        vp_buf_puts(b, "all shapes and dtypes are equal, so a static, weakly typed or closed-over "
                       "argument changes");
        return;
    }
    put_parameter(b, all, first);
    if (differing > 1)
        vp_buf_printf(b, " (and %zu more argument%s)", differing - 1, differing == 2 ? "" : "s");
}

int compile_changes_find(const char **out, analysis *a, vp_str function)
{
    variants all = {.n = 0};
    vp_buf b;
    vp_buf_init(&b, TEXT_MAX * 8);
    vp_map ran;
    vp_map_init(&ran);
    int rc = find_programs_run(&ran, a->t);
    if (rc >= 0)
        rc = list_variants(&all, a, function, &ran);
    vp_map_free(&ran);
    if (rc >= 0 && all.n >= 2) {
        put_changes(&b, &all);
        rc = b.status < 0 ? 0 : host_text(out, a->h, vp_str_head(vp_buf_view(&b), TEXT_MAX));
    }
    for (size_t i = 0; i < all.n; i++)
        vp_free(all.v[i].parameter);
    vp_buf_free(&b);
    return rc;
}
