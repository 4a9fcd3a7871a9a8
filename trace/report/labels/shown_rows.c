#include "trace/report/labels/shown_rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"

/* Matches the end of a name from the start of a word: "TPU:0" matches "/device:TPU:0", "0" does not
 * match "TPU:10". */
static bool is_end_of(const char *name, const char *key)
{
    vp_str n = vp_str_of(name), k = vp_str_of(key);
    if (!k.n || n.n < k.n || !vp_str_eq_nocase(vp_str_skip(n, n.n - k.n), k))
        return false;
    return n.n == k.n || !isalnum((unsigned char)n.p[n.n - k.n - 1]) ||
           !isalnum((unsigned char)k.p[0]);
}

bool rep_shows_host(const vp_view *v, const char *host)
{
    return !v->host || vp_str_eq(vp_str_of(host), vp_str_of(v->host));
}

bool rep_device_matches(const vp_report *r, const vp_view *v, size_t device)
{
    const vp_device *d = &r->devices[device];
    if (v->device && !is_end_of(d->name ? d->name : "", v->device))
        return false;
    return rep_shows_host(v, d->host);
}

bool rep_shows_device(const vp_report *r, const vp_view *v, uint32_t device)
{
    return device < r->device_count ? rep_device_matches(r, v, device) : !v->device;
}

int rep_check_filters(const vp_report *r, const vp_view *v)
{
    if (!v->device && !v->host)
        return 0;
    for (size_t i = 0; i < r->device_count; i++)
        if (rep_device_matches(r, v, i))
            return 0;
    return vp_fail(VP_ENOTFOUND,
                   "no device matches '%.80s'%s%.80s; there are %zu, the first is %.80s",
                   v->device ? v->device : "*", v->host ? " on host " : "", v->host ? v->host : "",
                   r->device_count, r->device_count ? r->devices[0].name : "none");
}

void rep_pick_devices(bool *full, size_t *matching, const vp_report *r, const vp_view *v)
{
    *matching = 0;
    for (int kind = VP_DEVICE_TPU; kind <= VP_DEVICE_OTHER; kind++) {
        size_t count = 0, busiest = 0;
        for (size_t i = 0; i < r->device_count; i++) {
            if ((int)r->devices[i].kind != kind)
                continue;
            full[i] = rep_device_matches(r, v, i);
            if (!full[i])
                continue;
            if (!count++ || r->devices[i].breakdown.busy_ps > r->devices[busiest].breakdown.busy_ps)
                busiest = i;
        }
        *matching += count;
        for (size_t i = 0; i < r->device_count && count > 2 && !v->device; i++)
            if ((int)r->devices[i].kind == kind)
                full[i] = i == busiest;
    }
}

static bool holds_nocase(const char *text, const char *part)
{
    vp_str s = vp_str_of(text), key = vp_str_of(part);
    for (size_t i = 0; i + key.n <= s.n; i++)
        if (vp_str_starts_nocase(vp_str_skip(s, i), key))
            return true;
    return false;
}

static bool op_matches(const vp_op *op, const vp_view *v)
{
    const char *const texts[] = {op->name,   op->category,      op->scope,         op->source,
                                 op->module, op->operator_name, op->outermost_name};
    bool found = !v->filter;
    for (size_t i = 0; !found && i < sizeof texts / sizeof *texts; i++)
        found = holds_nocase(texts[i], v->filter);
    return found;
}

static int64_t sort_value(const vp_op *op, vp_sort by)
{
    switch (by) {
    case VP_BY_TOTAL:
        return op->total_ps;
    case VP_BY_CALLS:
        return op->calls;
    case VP_BY_MAX:
        return op->max_ps;
    case VP_BY_SELF:
        break;
    }
    return op->self_ps;
}

typedef struct order {
    const vp_report *r;
    vp_sort by;
} order;

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const order *o = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const vp_op *x = &o->r->ops[i], *y = &o->r->ops[j];
    int64_t vx = sort_value(x, o->by), vy = sort_value(y, o->by);
    if (vx != vy)
        return vx > vy ? -1 : 1;
    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    int by_name = strcmp(x->name ? x->name : "", y->name ? y->name : "");
    return by_name ? by_name : (i > j) - (i < j);
}

/* Sorted rows of the given device, or with SIZE_MAX of all devices that match the view. */
static int sorted_rows(uint32_t **out, size_t *count, const vp_report *r, const vp_view *v,
                       size_t device)
{
    order o = {r, v->sort};
    uint32_t *rows = vp_calloc(r->op_count ? r->op_count : 1, sizeof *rows);
    size_t n = 0;
    VP_NEED(rows);
    for (size_t i = 0; i < r->op_count && i < UINT32_MAX; i++) {
        uint32_t d = r->ops[i].device;
        if (d < r->device_count &&
            (device == SIZE_MAX ? rep_device_matches(r, v, d) : d == device) &&
            op_matches(&r->ops[i], v))
            rows[n++] = (uint32_t)i;
    }
    qsort_r(rows, n, sizeof *rows, compare_rows, &o);
    *out = rows;
    *count = n;
    return 0;
}

int rep_select(uint32_t **rows, size_t *n, size_t *matching, const vp_report *r, const vp_view *v)
{
    VP_CLEANUP(vp_free_ptr) size_t *seen = NULL;
    uint32_t *all;
    size_t count, kept = 0;
    VP_TRY(rep_check_filters(r, v));
    seen = vp_calloc(r->device_count + 1, sizeof *seen);
    VP_NEED(seen);
    VP_TRY(sorted_rows(&all, &count, r, v, SIZE_MAX));
    for (size_t i = 0; i < count; i++)
        if (!v->top || seen[r->ops[all[i]].device]++ < v->top)
            all[kept++] = all[i];
    *rows = all;
    *n = kept;
    *matching = count;
    return 0;
}

static bool is_small(const vp_op *op, int64_t all_self_ps)
{
    return (__int128)op->self_ps * 200 < all_self_ps;
}

/* Number of sorted rows that the table shows; see rep_rows_of. */
static size_t count_shown_rows(const uint32_t *rows, size_t n, const vp_report *r, const vp_view *v,
                               int64_t all_self_ps, size_t most)
{
    size_t limit = v->top && v->top < most ? v->top : most, last = 0;
    int64_t before = 0;
    limit = n < limit ? n : limit;
    if (!v->top || v->sort == VP_BY_CALLS || v->sort == VP_BY_MAX || v->filter)
        return limit;
    for (size_t i = 0; i < limit; i++) {
        const vp_op *op = &r->ops[rows[i]];
        if (!is_small(op, all_self_ps) || (__int128)before * 20 < (__int128)all_self_ps * 19)
            last = i + 1;
        before += op->self_ps;
    }
    return last;
}

static int64_t larger_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int rep_rows_most(rep_rows *out, const vp_report *r, const vp_view *v, size_t device, size_t most)
{
    rep_rows t = {.all_self_ps = r->devices[device].self_ps};
    VP_TRY(sorted_rows(&t.index, &t.matching, r, v, device));
    t.shown = count_shown_rows(t.index, t.matching, r, v, t.all_self_ps, most ? most : VP_TOP_MAX);
    t.others = t.matching - t.shown;
    for (size_t i = 0; i < t.matching; i++) {
        const vp_op *op = &r->ops[t.index[i]];
        if (i < t.shown) {
            t.shown_self_ps += op->self_ps;
            t.max_self_ps = larger_of(t.max_self_ps, op->self_ps);
            t.max_total_ps = larger_of(t.max_total_ps, op->total_ps);
            t.max_call_ps = larger_of(t.max_call_ps, op->max_ps);
            continue;
        }
        t.others_self_ps += op->self_ps;
        t.others_total_ps += op->total_ps;
        t.others_calls += op->calls;
        if (is_small(op, t.all_self_ps)) {
            t.hidden++;
            t.hidden_self_ps += op->self_ps;
        }
    }
    *out = t;
    return 0;
}

int rep_rows_of(rep_rows *out, const vp_report *r, const vp_view *v, size_t device)
{
    return rep_rows_most(out, r, v, device, 0);
}

void rep_rows_free(rep_rows *rows)
{
    vp_free(rows->index);
    rows->index = NULL;
}
