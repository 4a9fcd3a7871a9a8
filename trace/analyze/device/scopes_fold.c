/* Paths of scopes: forward, backward, rematerialised (docs/reference/metrics.md#scopes). */
#include "trace/analyze/device/scopes.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

size_t scope_component_end(vp_str path, size_t at)
{
    int depth = 0;
    vp_str rest = vp_str_skip(path, at);
    const char *slash = rest.n ? memchr(rest.p, '/', rest.n) : NULL;
    size_t n = slash ? (size_t)(slash - rest.p) : rest.n;
    if (!n || !(memchr(rest.p, '(', n) || memchr(rest.p, '[', n))) /* usually */
        return at + n < path.n ? at + n : path.n;
    for (size_t i = at; i < path.n; i++) {
        char c = path.p[i];
        depth += c == '(' || c == '[';
        depth -= (c == ')' || c == ']') && depth > 0;
        if (c == '/' && depth == 0)
            return i;
    }
    return path.n;
}

static vp_str next_component(vp_str path, size_t *at)
{
    size_t end = scope_component_end(path, *at);
    vp_str part = vp_str_head(vp_str_skip(path, *at), end - *at);
    *at = end + 1;
    return part;
}

static bool has_component(vp_str path, bool (*is)(vp_str part))
{
    for (size_t at = 0; at < path.n;)
        if (is(next_component(path, &at)))
            return true;
    return false;
}

static bool is_backward(vp_str part)
{
    return vp_str_starts(part, VP_STR("transpose(")) || vp_str_eq(part, VP_STR("gradient_tape"));
}

/* Nodes of PyTorch's autograd graph: "AddmmBackward0", "torch::autograd::AccumulateGrad". */
static bool is_autograd_node(vp_str part)
{
    return vp_str_starts(part, VP_STR("torch::autograd::")) ||
           (vp_str_ends(vp_str_without_digits(part), VP_STR("Backward")) &&
            !vp_str_starts(part, VP_STR("nn.Module: ")));
}

/* Operators and modules of PyTorch are in the path: in other paths such names are the user's. */
static bool is_torch_path(vp_str path)
{
    return vp_str_find(path, VP_STR("aten::")) < path.n ||
           vp_str_find(path, VP_STR("nn.Module: ")) < path.n ||
           vp_str_find(path, VP_STR("autograd::")) < path.n;
}

bool scope_is_backward(vp_str path)
{
    return has_component(path, is_backward) ||
           (has_component(path, is_autograd_node) && is_torch_path(path));
}

bool scope_is_remat(vp_str path)
{
    return vp_str_find(path, VP_STR("rematted_computation")) < path.n;
}

bool scope_is_remat_op(vp_str name)
{
    return vp_str_find(name, VP_STR(".remat")) < name.n;
}

/* A component without "transpose(…)" and "jvp(…)"; empty if no part is of the forward pass. */
static vp_str unwrap_scope_part(vp_str part)
{
    static const char *const wrappers[] = {"transpose(", "jvp("};
    static const char *const silent[] = {"gradient_tape", "checkpoint", "rematted_computation",
                                         "remat", "remat2"};
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
            vp_str w = vp_str_of(wrappers[i]);
            if (vp_str_starts(part, w) && vp_str_ends(part, VP_STR(")"))) {
                part = vp_str_head(vp_str_skip(part, w.n), part.n - w.n - 1);
                again = true;
            }
        }
    }
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (vp_str_eq(part, vp_str_of(silent[i])))
            return VP_STR_NONE;
    return part;
}

/* The module of an op of PyTorch: the path without operators. */
static int fold_torch_scope(vp_buf *out, vp_str path)
{
    size_t begin = out->n;
    for (size_t at = 0; at < path.n;) {
        vp_str part = next_component(path, &at);
        if (is_autograd_node(part) || vp_str_find(part, VP_STR("::")) < part.n)
            continue;
        if (out->n > begin)
            VP_TRY(vp_buf_putc(out, '/'));
        VP_TRY(vp_buf_str(out, part));
    }
    return out->n > begin ? 0 : vp_buf_str(out, path);
}

int scope_fold(vp_buf *out, vp_str path)
{
    if (is_torch_path(path))
        return fold_torch_scope(out, path);
    size_t at = 0, begin = out->n;
    vp_str part = next_component(path, &at);
    if (at >= path.n) /* a single component is a scope, not a primitive */
        return vp_buf_str(out, unwrap_scope_part(part).n ? unwrap_scope_part(part) : part);
    while (at < path.n) {
        vp_str name = unwrap_scope_part(part);
        if (name.n && out->n > begin)
            VP_TRY(vp_buf_putc(out, '/'));
        VP_TRY(vp_buf_str(out, name));
        part = next_component(path, &at);
    }
    return out->n > begin ? 0 : vp_buf_str(out, part);
}

typedef struct folding {
    vp_arena *arena;
    vp_folded_scope *v;
    size_t n, cap;
    vp_map by_path;
} folding;

static int add_item(folding *f, vp_buf *text, const scope_item *item)
{
    text->n = 0;
    VP_TRY(scope_fold(text, vp_str_of(item->path)));
    uint64_t key = vp_hash(text->p, text->n, 5);
    uint32_t at = vp_map_get(&f->by_path, key);
    if (at == VP_MAP_NONE) {
        char *path = vp_arena_strndup(f->arena, text->p, text->n);
        VP_NEED(path);
        VP_TRY(vp_grow(&f->v, &f->cap, f->n + 1, sizeof *f->v, UINT32_MAX - 1));
        at = (uint32_t)f->n++;
        f->v[at] = (vp_folded_scope){.path = path};
        VP_TRY(vp_map_set(&f->by_path, key, at));
    }
    vp_folded_scope *x = &f->v[at];
    x->backward_ps += item->backward_ps;
    x->remat_ps += item->remat_ps;
    x->forward_ps += item->self_ps - item->backward_ps - item->remat_ps;
    x->calls += item->calls;
    return 0;
}

static int by_folded_time(const void *a, const void *b)
{
    const vp_folded_scope *x = a, *y = b;
    int64_t s = x->forward_ps + x->backward_ps + x->remat_ps,
            t = y->forward_ps + y->backward_ps + y->remat_ps;
    return s != t ? (s < t) - (s > t) : strcmp(x->path, y->path);
}

static int fold_all(folding *f, const scope_item *items, size_t n)
{
    vp_buf text;
    int rc = 0;
    vp_buf_init(&text, VP_INTERN_BYTES_MAX);
    for (size_t i = 0; rc >= 0 && i < n; i++)
        rc = items[i].calls || items[i].self_ps ? add_item(f, &text, &items[i]) : 0;
    vp_buf_free(&text);
    return rc;
}

int scopes_fold(vp_folded_scope **out, size_t *count, vp_arena *arena, const scope_item *items,
                size_t n)
{
    folding f = {.arena = arena};
    bool any = false;
    int rc = 0;
    for (size_t i = 0; i < n && !any; i++)
        any = items[i].backward_ps || items[i].remat_ps;
    if (!any)
        return 0;
    vp_map_init(&f.by_path);
    rc = fold_all(&f, items, n);
    vp_folded_scope *v = rc < 0 ? NULL : vp_arena_alloc(arena, f.n * sizeof *v);
    if (v) {
        memcpy(v, f.v, f.n * sizeof *v);
        qsort(v, f.n, sizeof *v, by_folded_time);
        *out = v;
        *count = f.n;
    }
    vp_free(f.v);
    vp_map_free(&f.by_path);
    return rc < 0 ? rc : v ? 0 : vp_no_memory();
}
