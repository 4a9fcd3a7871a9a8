#include "trace/analyze/memory/curve.h"

#include <stdbool.h>

static void curve_widen(mem_curve *c)
{
    size_t n = 0;
    c->width = c->width <= INT64_MAX / 2 ? c->width * 2 : INT64_MAX;
    for (size_t i = 0; i < c->n; i++) {
        int64_t slice = c->v[i].slice / 2;
        if (n && c->v[n - 1].slice == slice) {
            if (c->v[i].level > c->v[n - 1].level)
                c->v[n - 1] = c->v[i];
        } else {
            c->v[n++] = c->v[i];
        }
        c->v[n - 1].slice = slice;
    }
    c->n = n;
}

void mem_curve_add(mem_curve *c, int64_t at, int64_t level, int64_t beside)
{
    if (!c->width) {
        c->first = at;
        c->width = 1;
    }
    if (c->n && at < c->v[c->n - 1].at)
        at = c->v[c->n - 1].at;
    int64_t since = at > c->first ? at - c->first : 0;
    while (since / c->width >= (int64_t)(2 * MEM_CURVE_MAX))
        curve_widen(c);
    int64_t slice = since / c->width;
    bool same = c->n && c->v[c->n - 1].slice == slice;
    if (same && level <= c->v[c->n - 1].level)
        return;
    c->n += !same;
    c->v[c->n - 1].slice = slice;
    c->v[c->n - 1].at = at;
    c->v[c->n - 1].level = level;
    c->v[c->n - 1].beside = beside;
}

void mem_curve_end(mem_curve *c)
{
    while (c->n > MEM_CURVE_MAX)
        curve_widen(c);
}
