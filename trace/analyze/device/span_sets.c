/* Sets of times as sorted, disjoint spans. */
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/device/sweep.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

void spans_free(spans *s)
{
    vp_free(s->v);
    *s = (spans){0};
}

static inline int spans_append_merged(spans *s, int64_t start, int64_t end, int64_t apart)
{
    span *last = s->n ? &s->v[s->n - 1] : NULL;
    if (end <= start)
        return 0;
    if (last && start >= last->start &&
        (start <= last->end || (uint64_t)start - (uint64_t)last->end <= (uint64_t)apart)) {
        last->end = end > last->end ? end : last->end;
        return 0;
    }
    VP_TRY(vp_grow(&s->v, &s->cap, s->n + 1, sizeof *s->v, VP_EVENTS_MAX));
    s->v[s->n++] = (span){start, end};
    return 0;
}

/* A span that continues the last one extends it, so that a sorted list of busy ops stays short. */
int spans_add(spans *s, int64_t start, int64_t end)
{
    return spans_append_merged(s, start, end, 0);
}

int spans_add_near(spans *s, int64_t start, int64_t end, int64_t apart)
{
    return spans_append_merged(s, start, end, apart);
}

static int by_span_start(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static bool spans_are_disjoint(const spans *s)
{
    for (size_t i = 1; i < s->n; i++)
        if (s->v[i].start <= s->v[i - 1].end)
            return false;
    return true;
}

/* Appends x to the n spans of a union, none of which begins after it. Returns the new number. */
static size_t union_append_span(span *v, size_t n, span x)
{
    if (!n || x.start > v[n - 1].end) {
        v[n] = x;
        return n + 1;
    }
    v[n - 1].end = x.end > v[n - 1].end ? x.end : v[n - 1].end;
    return n;
}

/* Moves spans that begin before a predecessor after the others, which keep their order. Returns how
 * many. */
static int part_strays(spans *s, size_t *kept)
{
    VP_CLEANUP(vp_free_ptr) span *strays = NULL;
    size_t n = 0, stray_n = 0, cap = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!n || s->v[i].start >= s->v[n - 1].start) {
            s->v[n++] = s->v[i];
            continue;
        }
        VP_TRY(vp_grow(&strays, &cap, stray_n + 1, sizeof *strays, VP_EVENTS_MAX));
        strays[stray_n++] = s->v[i];
    }
    if (stray_n)
        memcpy(s->v + n, strays, stray_n * sizeof *strays);
    *kept = n;
    return 0;
}

/* `out` may be a if there is no b, or be as many spans before a as b has. */
static size_t unite_sorted_spans(span *out, const span *a, size_t a_n, const span *b, size_t b_n)
{
    size_t n = 0;
    for (size_t i = 0, k = 0; i < a_n || k < b_n;) {
        bool first = k == b_n || (i < a_n && a[i].start <= b[k].start);
        n = union_append_span(out, n, first ? a[i++] : b[k++]);
    }
    return n;
}

int spans_union(spans *s)
{
    size_t kept;
    if (spans_are_disjoint(s))
        return 0;
    VP_TRY(part_strays(s, &kept));
    if (kept == s->n) {
        s->n = unite_sorted_spans(s->v, s->v, kept, NULL, 0);
        return 0;
    }
    qsort(s->v + kept, s->n - kept, sizeof *s->v, by_span_start);
    span *both = vp_realloc_array(NULL, s->n, sizeof *both);
    VP_NEED(both);
    size_t n = unite_sorted_spans(both, s->v, kept, s->v + kept, s->n - kept);
    vp_free(s->v);
    *s = (spans){both, n, s->n};
    return 0;
}

int spans_unite(spans *into, const spans *more)
{
    span *v = into->v;
    if (!more->n)
        return 0;
    v = vp_realloc_array(v, into->n + more->n, sizeof *v);
    VP_NEED(v);
    memmove(v + more->n, v, into->n * sizeof *v);
    into->v = v;
    into->cap = into->n + more->n;
    into->n = unite_sorted_spans(v, v + more->n, into->n, more->v, more->n);
    return 0;
}

int64_t spans_length(const spans *s)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum += s->v[i].end - s->v[i].start;
    return sum;
}

static int64_t overlap_of_spans(span a, span b)
{
    int64_t start = a.start > b.start ? a.start : b.start, end = a.end < b.end ? a.end : b.end;
    return end > start ? end - start : 0;
}

int64_t spans_overlap(const spans *a, const spans *b)
{
    int64_t sum = 0;
    for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
        sum += overlap_of_spans(a->v[i], b->v[k]);
        if (a->v[i].end < b->v[k].end)
            i++;
        else
            k++;
    }
    return sum;
}

size_t spans_search(const spans *a, int64_t t, size_t near)
{
    const span *v = a->v;
    size_t low = near < a->n ? near : a->n, high = low, step = 1;
    while (low && v[low - 1].end > t) {
        high = low - 1;
        low = step < high ? high - step : 0;
        step *= 2;
    }
    while (high < a->n && v[high].end <= t) {
        low = high + 1;
        high = step < a->n - low ? low + step : a->n;
        step *= 2;
    }
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (v[mid].end <= t)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

int64_t spans_sum(const spans *a, int64_t start, int64_t end, size_t first)
{
    int64_t sum = 0;
    for (size_t i = first; i < a->n && a->v[i].start < end; i++)
        sum += overlap_of_spans(a->v[i], (span){start, end});
    return sum;
}
