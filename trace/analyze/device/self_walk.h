/* The algorithm of self.h as inline functions, for callers with millions of events. With constant
 * function arguments, the compiler inlines the callbacks. The caller owns the stack, zeroed before,
 * and frees `v`. */
#ifndef VP_ANALYZE_SELF_WALK_H
#define VP_ANALYZE_SELF_WALK_H

#include "trace/analyze/device/self.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

#define SELF_INLINE static inline __attribute__((always_inline))

typedef struct self_open {
    int64_t end;
    size_t id; /* result of self_id_fn */
} self_open;

typedef struct self_stack {
    self_open *v;
    size_t n, cap;
    int64_t now;
} self_stack;

/* Assigns the time until t to the open events. */
SELF_INLINE int self_run_until(self_stack *st, int64_t t, self_fn *fn, void *ctx)
{
    while (st->n && st->now < t) {
        const self_open *top = &st->v[st->n - 1];
        if (top->end <= st->now) {
            st->n--;
            continue;
        }
        int64_t from = st->now, to = top->end < t ? top->end : t;
        st->now = to;
        VP_TRY(fn(ctx, top->id, from, to));
    }
    if (st->now < t)
        st->now = t;
    return 0;
}

SELF_INLINE int self_push(self_stack *st, int64_t end, size_t id)
{
    if (st->n == st->cap)
        VP_TRY(vp_grow(&st->v, &st->cap, st->n + 1, sizeof *st->v, SIZE_MAX / 64));
    st->v[st->n++] = (self_open){end, id};
    return 0;
}

/* As self_pieces, with a function for the ids. */
SELF_INLINE int self_walk(self_stack *st, const trace_track *k, self_id_fn *id_of, self_fn *fn,
                          void *ctx)
{
    int64_t last = st->now = k->count ? trace_start(k, 0) : 0;
    for (size_t i = 0; i < k->count; i++) {
        int64_t start = trace_start(k, i), end = start + trace_dur(k, i);
        size_t id;
        VP_TRY(id_of(ctx, i, &id));
        if (end == start)
            continue;
        VP_TRY(self_run_until(st, start, fn, ctx));
        VP_TRY(self_push(st, end, id));
        last = end > last ? end : last;
    }
    return self_run_until(st, last, fn, ctx);
}

#endif
