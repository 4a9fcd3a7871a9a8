#include "trace/links/call_chains.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* Deeper events are ignored: Python's own limit of recursion is 1000. */
#define DEPTH_MAX 1024u

/* Kineto's categories since 2021. Its first versions gave annotations ("ProfilerStep#3",
 * "Optimizer.step#SGD.step") the category of operators, but no operator has a # in its name. */
chain_class chain_class_of(const trace *t, const trace_kind *k)
{
    vp_str cat = trace_str(t, k->category), name = trace_str(t, k->name);
    if (vp_str_eq(cat, VP_STR("cpu_op")) || vp_str_eq(cat, VP_STR("operator")))
        return memchr(name.p, '#', name.n) ? CHAIN_ANNOTATION : CHAIN_OPERATOR;
    if (vp_str_eq(cat, VP_STR("python_function")))
        return vp_str_starts(name, VP_STR("nn.Module: ")) ? CHAIN_MODULE : CHAIN_FRAME;
    if (vp_str_eq(cat, VP_STR("user_annotation")))
        return CHAIN_ANNOTATION;
    return CHAIN_OTHER;
}

int chain_table_init(chain_table *c, const trace *t, bool operators_only)
{
    *c = (chain_table){.t = t, .class_of = vp_calloc((size_t)t->kind_count + 1, 1)};
    vp_map_init(&c->at);
    VP_NEED(c->class_of);
    for (uint32_t k = 0; k < t->kind_count; k++) {
        chain_class class = chain_class_of(t, &t->kinds[k]);
        c->class_of[k] = (uint8_t)(operators_only && class != CHAIN_OPERATOR ? CHAIN_OTHER : class);
    }
    return 0;
}

void chain_table_free(chain_table *c)
{
    vp_free(c->class_of);
    vp_free(c->node);
    vp_map_free(&c->at);
}

int chain_child(uint32_t *out, chain_table *c, uint32_t parent, uint32_t kind)
{
    uint64_t key = (uint64_t)parent << 32 | kind;
    *out = vp_map_get(&c->at, key);
    if (*out != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_grow(&c->node, &c->cap, c->count + 1, sizeof *c->node, VP_INTERN_MAX));
    *out = (uint32_t)c->count++;
    c->node[*out] = (chain_node){parent, kind};
    return vp_map_set(&c->at, key, *out);
}

void chain_stack_free(chain_stack *s)
{
    vp_free(s->open);
    *s = (chain_stack){0};
}

void chain_stack_move(chain_stack *s, int64_t start_ps)
{
    while (s->depth && s->open[s->depth - 1].end_ps <= start_ps)
        s->depth--;
}

int chain_stack_push(chain_stack *s, const chain_table *c, const trace_track *k, size_t i)
{
    uint32_t kind = trace_kind_of(k, i);
    if (c->class_of[kind] == CHAIN_OTHER || s->depth == DEPTH_MAX)
        return 0;
    if (s->depth == s->cap)
        VP_TRY(vp_grow(&s->open, &s->cap, s->depth + 1, sizeof *s->open, VP_INTERN_MAX));
    s->open[s->depth++] = (chain_open){
        .end_ps = trace_end(k, i),
        .kind = kind,
        .node = CHAIN_NONE,
        .backward = trace_attr(k, SINK_BACKWARD, i),
    };
    return 0;
}

int chain_stack_node(uint32_t *out, chain_stack *s, chain_table *c)
{
    size_t from = s->depth;
    while (from && s->open[from - 1].node == CHAIN_NONE)
        from--;
    *out = from ? s->open[from - 1].node : CHAIN_NONE;
    for (size_t i = from; i < s->depth; i++) {
        VP_TRY(chain_child(out, c, *out, s->open[i].kind));
        s->open[i].node = *out;
    }
    return 0;
}

int chain_stack_graft(uint32_t *out, const chain_stack *s, chain_table *c, size_t from,
                      uint32_t root)
{
    *out = root;
    for (size_t i = from; i < s->depth; i++)
        VP_TRY(chain_child(out, c, *out, s->open[i].kind));
    return 0;
}
