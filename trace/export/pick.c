#include "trace/export/pick.h"

/* Lengths below 16 are places themselves. */
static unsigned place_of(int64_t length_ns)
{
    uint64_t v = length_ns > 0 ? (uint64_t)length_ns : 0;
    if (v < 16)
        return (unsigned)v;
    unsigned power = 63 - (unsigned)__builtin_clzll(v);
    return (power - 3) * 16 + (unsigned)(v >> (power - 4) & 15);
}

/* The least length of a place. */
static int64_t least_of(unsigned place)
{
    if (place < 16)
        return place;
    unsigned power = place / 16 + 3;
    return (int64_t)((UINT64_C(16) | place % 16) << (power - 4));
}

void ex_pick_count(ex_pick *p, int64_t length_ns)
{
    p->count[place_of(length_ns)]++;
}

void ex_pick_decide(ex_pick *p, int64_t first_ns)
{
    uint64_t longer = 0;
    unsigned place = EX_LENGTHS;
    p->first_ns = first_ns;
    if (__builtin_add_overflow(p->from_ns, first_ns, &p->from_ns))
        p->from_ns = INT64_MAX;
    if (__builtin_add_overflow(p->until_ns, first_ns, &p->until_ns))
        p->until_ns = INT64_MAX;
    while (p->most && place && longer + p->count[place - 1] <= p->most)
        longer += p->count[--place];
    p->least_ns = !p->most ? 0 : place < EX_LENGTHS ? least_of(place) : INT64_MAX;
}

bool ex_pick_takes(ex_pick *p, int64_t start_ns, int64_t end_ns)
{
    if (!p || (!p->window && !p->most))
        return true;
    bool in = !p->window || (start_ns < p->until_ns &&
                             (end_ns > p->from_ns || (end_ns == start_ns && end_ns == p->from_ns)));
    if (in && end_ns - start_ns >= p->least_ns)
        return true;
    p->left_out++;
    return false;
}

bool ex_pick_shows(ex_pick *p, int64_t at_ns)
{
    if (!p || !p->window || (at_ns >= p->from_ns && at_ns < p->until_ns))
        return true;
    p->left_out++;
    return false;
}
