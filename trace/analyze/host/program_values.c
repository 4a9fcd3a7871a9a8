#include "trace/analyze/host/program_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/analyze/result/analysis.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"

/* Number of listed rows per host: more than a reader needs. */
#define LISTED_MAX 100u
#define TOP_MAX 8u

/* The next text by count, after `last` (NULL: the first); ties: the one that occurred first. */
static const trace_arg_value *next_text(const trace_arg *x, const trace_arg_value *last)
{
    const trace_arg_value *best = NULL;
    for (const trace_arg_value *v = x->values; v < x->values + x->value_count; v++) {
        bool behind = !last || v->count < last->count || (v->count == last->count && v > last);
        if (behind && (!best || v->count > best->count))
            best = v;
    }
    return best;
}

static int put_value_texts(vp_values *out, host_result *h, const trace *t, const trace_arg *x)
{
    size_t n = x->value_count < TOP_MAX ? x->value_count : TOP_MAX;
    out->texts = out->others = (int64_t)x->texts;
    out->distinct = x->others ? VP_UNKNOWN : (int64_t)x->value_count;
    if (!n)
        return 0;
    out->top = vp_arena_zalloc(&h->arena, n * sizeof *out->top);
    VP_NEED(out->top);
    const trace_arg_value *v = NULL;
    for (; out->top_count < n && (v = next_text(x, v)); out->top_count++) {
        vp_said *s = &out->top[out->top_count];
        s->count = (int64_t)v->count;
        out->others -= s->count;
        VP_TRY(host_text(&s->text, h, trace_str(t, v->text)));
    }
    return 0;
}

static int put_arg_values(vp_values *out, host_result *h, const trace *t, const trace_arg *x)
{
    bool any = x->numbers > 0;
    *out = (vp_values){.numbers = (int64_t)x->numbers,
                       .min = any ? x->min : NAN,
                       .max = any ? x->max : NAN,
                       .sum = any ? x->sum : NAN,
                       .last = any ? x->last : NAN,
                       .mean = any ? x->sum / (double)x->numbers : NAN};
    VP_TRY(host_text(&out->zone, h, trace_str(t, x->zone)));
    VP_TRY(host_text(&out->key, h, trace_str(t, x->key)));
    return put_value_texts(out, h, t, x);
}

static int by_arg_calls(const void *a, const void *b)
{
    const trace_arg *x = *(const trace_arg *const *)a, *y = *(const trace_arg *const *)b;
    uint64_t p = x->numbers + x->texts, q = y->numbers + y->texts;
    return p != q ? (p < q) - (p > q) : (x > y) - (x < y);
}

/* Lists those with the most calls first. Rows are arguments or, without a key, counters. */
static int put_value_rows(vp_values **out, size_t *count, int64_t *total, analysis *a,
                          bool counters)
{
    const trace *t = a->t;
    size_t n = 0;
    const trace_arg **order = vp_arena_alloc(&a->h->arena, (t->arg_count + 1) * sizeof *order);
    VP_NEED(order);
    for (uint32_t i = 0; i < t->arg_count; i++)
        if (!t->args[i].key == counters)
            order[n++] = &t->args[i];
    *total = (int64_t)n;
    qsort(order, n, sizeof *order, by_arg_calls);
    n = n < LISTED_MAX ? n : LISTED_MAX;
    *out = vp_arena_zalloc(&a->h->arena, (n + 1) * sizeof **out);
    if (!*out)
        return vp_no_memory();
    for (; *count < n; ++*count)
        VP_TRY(put_arg_values(&(*out)[*count], a->h, t, order[*count]));
    return 0;
}

static int put_meta(analysis *a)
{
    host_result *h = a->h;
    const trace *t = a->t;
    size_t n = t->meta_count < LISTED_MAX ? t->meta_count : LISTED_MAX;
    h->meta_total = t->meta_count;
    h->meta = vp_arena_zalloc(&h->arena, (n + 1) * sizeof *h->meta);
    VP_NEED(h->meta);
    for (; h->meta_count < n; h->meta_count++) {
        vp_meta *m = &h->meta[h->meta_count];
        VP_TRY(host_text(&m->key, h, trace_str(t, t->metas[h->meta_count].key)));
        VP_TRY(host_text(&m->value, h, trace_str(t, t->metas[h->meta_count].value)));
    }
    return 0;
}

/* Values are sums over the whole file, so they are unknown for a part of it. */
static bool is_partial_trace(const trace *t)
{
    for (uint32_t p = 0; p < t->process_count; p++)
        if (t->processes[p].part_start_ps != SINK_NO_TIME)
            return true;
    return false;
}

static int note_dropped_args(analysis *a)
{
    char text[160];
    if (!a->t->args_dropped)
        return 0;
    snprintf(text, sizeof text,
             "%llu zone arguments are not listed: there are more than %u different ones",
             (unsigned long long)a->t->args_dropped, VP_ARGS_MAX);
    return host_note(a->h, "args-left-out", VP_SEV_INFO, text);
}

int args_collect(analysis *a)
{
    host_result *h = a->h;
    VP_TRY(put_meta(a));
    if (is_partial_trace(a->t))
        return 0;
    VP_TRY(put_value_rows(&h->args, &h->arg_count, &h->arg_total, a, false));
    VP_TRY(note_dropped_args(a));
    return put_value_rows(&h->counters, &h->counter_count, &h->counter_total, a, true);
}
