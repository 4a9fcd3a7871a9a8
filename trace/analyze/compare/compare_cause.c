/* The largest change as one sentence: a scope, host activity during idle time, or an op. The first
 * two are from the program's own code; an op is named only if they explain little. */
#include <string.h>

#include "trace/analyze/compare/compare_parts.h"

/* A cause must explain at least this share of the difference. A scope is preferred to its parent if
 * it has this share of the parent's difference. */
#define EXPLAINS_PERCENT 25
#define DEEPER_PERCENT 70

static bool moves_like_step(const vp_delta *d, int64_t worth, int sign)
{
    return d->delta_ps != VP_NO_TIME && sign * d->delta_ps > 0 && cmp_size(d) >= worth;
}

static bool is_inside_scope(const vp_compared_scope *in, const vp_compared_scope *out)
{
    size_t n = strlen(out->path);
    return in->depth > out->depth && !strncmp(in->path, out->path, n) && in->path[n] == '/';
}

/* The scopes are in pre-order. */
static const vp_compared_scope *cause_scope(const vp_comparison *c, int64_t worth, int sign)
{
    const vp_compared_scope *best = NULL;
    for (size_t i = 0; i < c->scope_count; i++) {
        const vp_compared_scope *s = &c->scopes[i];
        if (!moves_like_step(&s->total, worth, sign) || !strcmp(s->path, "(no scope)"))
            continue;
        bool inside = best && is_inside_scope(s, best);
        if (inside ? cmp_size(&s->total) >= cmp_size(&best->total) / 100 * DEEPER_PERCENT
                   : !best || cmp_size(&s->total) > cmp_size(&best->total))
            best = s;
    }
    return best;
}

static const vp_compared_idle *cause_idle(const vp_comparison *c, int64_t worth, int sign)
{
    for (size_t i = 0; i < c->idle_count; i++)
        if (moves_like_step(&c->idle[i].total, worth, sign))
            return &c->idle[i];
    return NULL;
}

static const vp_compared_op *cause_op(const vp_comparison *c, int64_t worth, int sign)
{
    for (size_t i = 0; i < c->op_count; i++)
        if (moves_like_step(&c->ops[i].self, worth, sign))
            return &c->ops[i];
    return NULL;
}

static const char *scope_sentence(comparing *k, const vp_compared_scope *s)
{
    const vp_delta *d = &s->total;
    double ms = (double)d->delta_ps / 1e9;
    if (!d->a_ps || !d->b_ps)
        return cmp_print(k, "scope %.200s is %s: %+.3f ms", s->path, d->a_ps ? "gone" : "new", ms);
    return cmp_print(k, "scope %.200s: %+.3f ms (%+.2f%%)", s->path, ms,
                     100 * (double)d->delta_ps / (double)d->a_ps);
}

static const char *idle_sentence(comparing *k, const vp_compared_idle *x)
{
    bool called = x->user && strcmp(x->user, x->label) != 0;
    return cmp_print(k, "the device waits while the host is in %.150s%s%.150s: %+.3f ms", x->label,
                     called ? ", called by " : "", called ? x->user : "",
                     (double)x->total.delta_ps / 1e9);
}

static const char *op_sentence(comparing *k, const vp_compared_op *op)
{
    return cmp_print(k, "op %.200s, %s: %+.3f ms", op->name ? op->name : "-",
                     op->reason ? op->reason : "-", (double)op->self.delta_ps / 1e9);
}

void cmp_cause(comparing *k)
{
    vp_comparison *c = k->c;
    int64_t delta = c->step.delta_ps == VP_NO_TIME ? 0 : c->step.delta_ps;
    int sign = delta < 0 ? -1 : 1;
    int64_t worth = sign * delta / 100 * EXPLAINS_PERCENT;
    if (c->verdict == VP_NOISE || !worth)
        return;
    const vp_compared_scope *scope = cause_scope(c, worth, sign);
    const vp_compared_idle *idle = cause_idle(c, worth, sign);
    if (scope && (!idle || cmp_size(&scope->total) >= cmp_size(&idle->total)))
        c->cause = scope_sentence(k, scope);
    else if (idle)
        c->cause = idle_sentence(k, idle);
    else {
        const vp_compared_op *op = cause_op(c, worth, sign);
        c->cause = op ? op_sentence(k, op) : NULL;
    }
}
