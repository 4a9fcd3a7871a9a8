#include "trace/export/shared/pick.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* Minimum number of lengths before sorting. */
#define LENGTHS_MIN 4096u

static int by_length_longest_first(const void *a, const void *b)
{
    const ex_length *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

/* Sorts the lengths and keeps those of the longest `most` slices. */
static void pick_cut_lengths(ex_pick *p)
{
    size_t kept = 0, taken = 0;
    uint64_t slices = 0;
    if (p->length_count)
        qsort(p->lengths, p->length_count, sizeof *p->lengths, by_length_longest_first);
    for (; taken < p->length_count; taken++) {
        ex_length l = p->lengths[taken];
        if (kept && p->lengths[kept - 1].ns == l.ns)
            p->lengths[kept - 1].count += l.count;
        else if (slices < p->most)
            p->lengths[kept++] = l;
        else
            break;
        slices += l.count;
        if (kept == VP_PICK_LENGTHS_MAX / 2 && slices < p->most &&
            (taken + 1 == p->length_count || p->lengths[taken + 1].ns != l.ns))
            p->most = slices;
    }
    p->cut = p->cut || slices > p->most || taken < p->length_count;
    p->length_count = p->settled = kept;
    p->full = kept && slices >= p->most;
    if (p->full)
        p->least_ns = p->lengths[kept - 1].ns;
}

static int pick_make_room(ex_pick *p)
{
    if (p->length_count >= LENGTHS_MIN)
        pick_cut_lengths(p);
    if (p->length_cap && p->length_count <= p->length_cap / 2)
        return 0;
    return vp_grow(&p->lengths, &p->length_cap, p->length_cap ? 2 * p->length_cap : LENGTHS_MIN,
                   sizeof *p->lengths, VP_PICK_LENGTHS_MAX);
}

int ex_pick_count(ex_pick *p, int64_t length_ns)
{
    if (!p || !p->most)
        return 0;
    if (p->full && length_ns <= p->least_ns) {
        p->cut = true;
        return 0;
    }
    if (p->length_count > p->settled && p->lengths[p->length_count - 1].ns == length_ns) {
        p->lengths[p->length_count - 1].count++;
        return 0;
    }
    if (p->length_count == p->length_cap)
        VP_TRY(pick_make_room(p));
    p->lengths[p->length_count++] = (ex_length){length_ns, 1};
    return 0;
}

void ex_pick_forget(ex_pick *p)
{
    if (!p)
        return;
    vp_free(p->lengths);
    p->lengths = NULL;
    p->length_count = p->settled = p->length_cap = 0;
}

void ex_pick_decide(ex_pick *p, int64_t first_ns)
{
    p->first_ns = first_ns;
    if (__builtin_add_overflow(p->from_ns, first_ns, &p->from_ns))
        p->from_ns = INT64_MAX;
    if (__builtin_add_overflow(p->until_ns, first_ns, &p->until_ns))
        p->until_ns = INT64_MAX;
    pick_cut_lengths(p);
    p->spare = p->most;
    for (size_t i = 0; i + 1 < p->length_count; i++)
        p->spare -= p->lengths[i].count;
    p->last = UINT64_MAX;
    ex_pick_forget(p);
}

static bool reaches_in(const ex_pick *p, int64_t start_ns, int64_t end_ns)
{
    return !p->window || (start_ns < p->until_ns &&
                          (end_ns > p->from_ns || (end_ns == start_ns && end_ns == p->from_ns)));
}

static bool pick_take(ex_pick *p, bool taken)
{
    p->left_out += !taken;
    return taken;
}

bool ex_pick_takes(ex_pick *p, int64_t start_ns, int64_t end_ns)
{
    if (!ex_pick_limits(p))
        return true;
    bool is_long = !p->cut || end_ns - start_ns > p->least_ns;
    if (!is_long && end_ns - start_ns == p->least_ns && p->spare) {
        p->spare--;
        is_long = true;
    }
    return pick_take(p, is_long && reaches_in(p, start_ns, end_ns));
}

bool ex_pick_takes_number(ex_pick *p, int64_t start_ns, int64_t end_ns, uint64_t number)
{
    if (!ex_pick_limits(p))
        return true;
    int64_t length = end_ns - start_ns;
    bool is_long = !p->cut || length > p->least_ns || (length == p->least_ns && number <= p->last);
    return pick_take(p, is_long && reaches_in(p, start_ns, end_ns));
}

bool ex_pick_shows(ex_pick *p, int64_t at_ns)
{
    return !p || !p->window || pick_take(p, at_ns >= p->from_ns && at_ns < p->until_ns);
}
