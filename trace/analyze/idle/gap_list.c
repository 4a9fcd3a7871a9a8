#include "trace/analyze/host/user_kinds.h"
#include "trace/analyze/idle/gap_list.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/analyze/device/ops.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

static int64_t idle_gap_length(const idle_gap *g)
{
    return g->end - g->start;
}

static bool is_shorter_gap(const idle_gap *x, const idle_gap *y)
{
    return idle_gap_length(x) != idle_gap_length(y) ? idle_gap_length(x) < idle_gap_length(y)
                                                    : x->start > y->start;
}

static void gap_sift_down(idle_gap *heap, size_t n, size_t i)
{
    for (;;) {
        size_t least = i, left = 2 * i + 1, right = left + 1;
        if (left < n && is_shorter_gap(&heap[left], &heap[least]))
            least = left;
        if (right < n && is_shorter_gap(&heap[right], &heap[least]))
            least = right;
        if (least == i)
            return;
        idle_gap swap = heap[i];
        heap[i] = heap[least];
        heap[least] = swap;
        i = least;
    }
}

void gap_list_offer(gap_list *l, const idle_gap *g)
{
    if (l->n == GAP_LIST_MAX) {
        if (!is_shorter_gap(&l->v[0], g))
            return;
        l->v[0] = *g;
        gap_sift_down(l->v, GAP_LIST_MAX, 0);
        return;
    }
    l->v[l->n++] = *g;
    if (l->n == GAP_LIST_MAX)
        for (size_t i = GAP_LIST_MAX / 2; i-- > 0;)
            gap_sift_down(l->v, GAP_LIST_MAX, i);
}

typedef struct detail {
    vp_gap *gap;
    idle_sums sums;
} detail;

static int gap_on_piece(void *ctx, const idle_piece *p)
{
    detail *d = ctx;
    d->gap->cause_ps[p->cause] += p->end - p->start;
    return idle_sums_add(&d->sums, p, 0);
}

static int describe_next(vp_gap *out, analysis *a, const uint32_t *op, sweep_event next)
{
    if (next.index == SIZE_MAX)
        return 0;
    uint32_t kind = trace_kind_of(&a->t->tracks[next.track], next.index);
    out->next_op = a->h->ops[op[grouping_groups(a->g)[kind]]].name;
    return host_text(&out->scope, a->h, trace_str(a->t, a->t->kinds[kind].scope));
}

/* The host activity during most of the gap, among the parts with a name. */
static int describe_host(vp_gap *out, analysis *a, idle_sums *sums)
{
    idle_sums_sort(sums);
    for (size_t i = 0; i < sums->n; i++) {
        if (!sums->v[i].label)
            continue;
        VP_TRY(host_text(&out->label, a->h, trace_str(a->t, sums->v[i].label)));
        return thread_text(&out->thread, a->h, a->t, sums->v[i].thread);
    }
    return 0;
}

static int emit_gap(const idle_gap *g, analysis *a, label_book *labels, uint32_t device,
                    const uint32_t *op)
{
    host_result *h = a->h;
    vp_gap out = {
        .device = device, .start_ps = g->from - h->origin_ps, .dur_ps = idle_gap_length(g)};
    detail d = {.gap = &out};
    idle_sums_init(&d.sums);
    int rc = idle_split(g, a, labels, gap_on_piece, &d);
    if (rc >= 0)
        rc = describe_host(&out, a, &d.sums);
    idle_sums_free(&d.sums);
    VP_TRY(rc);
    for (int c = 0; c <= VP_CAUSE_HOST; c++)
        out.host_late_ps += out.cause_ps[c];
    out.in_call_ps = out.cause_ps[VP_CAUSE_CALL];
    out.latency_ps = out.cause_ps[VP_CAUSE_LATENCY];
    VP_TRY(describe_next(&out, a, op, g->next));
    VP_TRY(vp_grow(&h->gaps, &h->gap_cap, h->gap_count + 1, sizeof out, SIZE_MAX / 1024));
    h->gaps[h->gap_count++] = out;
    return 0;
}

int gap_list_emit(const gap_list *l, analysis *a, label_book *labels, uint32_t device,
                  const uint32_t *op)
{
    for (size_t i = 0; i < l->n; i++)
        VP_TRY(emit_gap(&l->v[i], a, labels, device, op));
    return 0;
}

static int by_gap_length(const void *a, const void *b)
{
    const vp_gap *x = a, *y = b;
    if (x->dur_ps != y->dur_ps)
        return x->dur_ps > y->dur_ps ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

void gap_list_sort(host_result *h)
{
    if (h->gap_count)
        qsort(h->gaps, h->gap_count, sizeof *h->gaps, by_gap_length);
}

int gap_labels_emit(idle_sums *s, analysis *a, uint32_t device)
{
    host_result *h = a->h;
    idle_sums_sort(s);
    for (size_t i = 0; i < s->n && i < GAP_LABELS_MAX; i++) {
        const idle_sum *x = &s->v[i];
        vp_idle_label out = {
            .device = device, .cause = x->cause, .gaps = x->gaps, .total_ps = x->total_ps};
        VP_TRY(host_text(&out.label, h, trace_str(a->t, x->label)));
        VP_TRY(thread_text(&out.thread, h, a->t, x->thread));
        VP_TRY(user_frame_text(&out.user, h, a->t, x->user));
        VP_TRY(vp_grow(&h->idle_labels, &h->idle_label_cap, h->idle_label_count + 1, sizeof out,
                       SIZE_MAX / 1024));
        h->idle_labels[h->idle_label_count++] = out;
    }
    return 0;
}
