/* Values are aggregated as they arrive: one row remains per argument of each zone, regardless of
 * the number of calls. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/trace.h"

static int arg_row_of(trace_arg **out, trace *t, const sink_arg *a)
{
    vp_sid zone = t->kinds[a->kind].name, key;
    VP_TRY(vp_intern_put(&t->names, a->key, &key));
    uint64_t at = (uint64_t)zone << 32 | key;
    uint32_t i = vp_map_get(&t->arg_at, at);
    /* Counters have their own limit, independent of the number of arguments. */
    if (i == VP_MAP_NONE && t->arg_count >= (key ? VP_ARGS_MAX : 2 * VP_ARGS_MAX)) {
        *out = NULL;
        return 0;
    }
    if (i == VP_MAP_NONE) {
        i = t->arg_count;
        VP_TRY(vp_grow(&t->args, &t->arg_cap, (size_t)i + 1, sizeof *t->args, 2 * VP_ARGS_MAX));
        VP_TRY(vp_map_set(&t->arg_at, at, i));
        t->args[t->arg_count++] = (trace_arg){.zone = zone, .key = key};
    }
    *out = &t->args[i];
    return 0;
}

static void add_number(trace_arg *x, double v, int64_t start_ps)
{
    if (!(v - v == 0)) /* NaN and infinity have neither sum nor order */
        return;
    if (!x->numbers++ || v < x->min)
        x->min = v;
    if (x->numbers == 1 || v > x->max)
        x->max = v;
    if (x->numbers == 1 || start_ps >= x->last_ps) {
        x->last = v;
        x->last_ps = start_ps;
    }
    x->sum += v;
}

static vp_str cut_arg_text(vp_str s)
{
    size_t n = s.n < VP_ARG_TEXT_MAX ? s.n : VP_ARG_TEXT_MAX;
    while (n < s.n && n && ((unsigned char)s.p[n] & 0xc0) == 0x80) /* keeps whole characters */
        n--;
    return vp_str_head(s, n);
}

static int arg_add_text(trace_arg *x, trace *t, vp_str text)
{
    text = cut_arg_text(text);
    x->texts++;
    for (uint32_t i = 0; i < x->value_count; i++)
        if (vp_str_eq(trace_str(t, x->values[i].text), text)) {
            x->values[i].count++;
            return 0;
        }
    if (x->value_count == VP_ARG_VALUES_MAX) {
        x->others++;
        return 0;
    }
    VP_TRY(vp_grow(&x->values, &x->value_cap, (size_t)x->value_count + 1, sizeof *x->values,
                   VP_ARG_VALUES_MAX));
    trace_arg_value *v = &x->values[x->value_count];
    *v = (trace_arg_value){.count = 1};
    VP_TRY(vp_intern_put(&t->names, text, &v->text));
    x->value_count++;
    return 0;
}

int trace_put_arg(sink *s, const sink_arg *a)
{
    trace *t = (trace *)s;
    trace_arg *x;
    if (a->kind >= t->kind_count)
        return vp_fail(VP_EARG, "no kind %u", a->kind);
    VP_TRY(arg_row_of(&x, t, a));
    if (!x) {
        t->args_dropped++;
        return 0;
    }
    if (a->is_text)
        return arg_add_text(x, t, a->text);
    add_number(x, a->number, a->start_ps);
    return 0;
}

int trace_put_meta(sink *s, vp_str key, vp_str value)
{
    trace *t = (trace *)s;
    trace_meta m;
    if (t->meta_count == VP_METAS_MAX)
        return 0;
    VP_TRY(vp_intern_put(&t->names, key, &m.key));
    VP_TRY(vp_intern_put(&t->names, cut_arg_text(value), &m.value));
    VP_TRY(vp_grow(&t->metas, &t->meta_cap, (size_t)t->meta_count + 1, sizeof m, VP_METAS_MAX));
    t->metas[t->meta_count++] = m;
    return 0;
}

void trace_free_args(trace *t)
{
    for (uint32_t i = 0; i < t->arg_count; i++)
        vp_free(t->args[i].values);
    vp_free(t->args);
    vp_free(t->metas);
    vp_map_free(&t->arg_at);
}
