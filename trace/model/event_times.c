#include "trace/model/event_times.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* Shifts: one reference time for all events, per 64 events, per event. */
#define ALL 63
#define BLOCKS 6
#define EACH 0

void trace_times_free(trace_times *t)
{
    if (!t->borrowed)
        vp_free(t->v);
    vp_free(t->near);
    vp_free(t->wide);
    vp_free(t->longs);
    *t = (trace_times){0};
}

static size_t nears_of(uint8_t shift, size_t cap)
{
    return cap ? ((cap - 1) >> shift) + 1 : 1;
}

static int no_memory_for_events(size_t cap)
{
    return vp_fail(VP_ENOMEM, "out of memory: %zu events", cap);
}

static int resize_near(trace_times *t, size_t cap)
{
    if (t->near && t->shift == ALL)
        return 0;
    if (!t->near)
        t->shift = ALL;
    int64_t *near = vp_realloc_array(t->near, nears_of(t->shift, cap), sizeof *near);
    if (!near)
        return no_memory_for_events(cap);
    t->near = near;
    return 0;
}

static int resize_wide(trace_times *t, size_t cap)
{
    uint32_t *wide = vp_realloc_array(t->wide, cap, sizeof *wide);
    if (!wide)
        return no_memory_for_events(cap);
    t->wide = wide;
    return 0;
}

int trace_times_borrow(trace_times *t, sink_packed *v, size_t cap)
{
    VP_TRY(resize_near(t, cap));
    t->v = v;
    t->cap = cap;
    t->borrowed = true;
    return 0;
}

void trace_times_keep(trace_times *t, sink_packed **v)
{
    if (!t->borrowed || t->v != *v)
        return;
    t->borrowed = false;
    *v = NULL;
}

int trace_times_resize(trace_times *t, size_t count, size_t cap)
{
    sink_packed *v = vp_realloc_array(t->borrowed ? NULL : t->v, cap, sizeof *v);
    if (!v)
        return no_memory_for_events(cap);
    if (t->borrowed && count)
        memcpy(v, t->v, count * sizeof *v);
    t->v = v;
    t->borrowed = false;
    VP_TRY(resize_near(t, cap));
    if (t->wide)
        VP_TRY(resize_wide(t, cap));
    t->cap = cap;
    return 0;
}

int trace_times_reserve(trace_times *t, size_t count, size_t need)
{
    size_t cap = t->cap;
    if (need > VP_EVENTS_MAX / 2)
        return vp_fail(VP_ELIMIT, "more than %u events on one track", VP_EVENTS_MAX / 2);
    while (cap < need)
        cap = cap ? cap * 2 : 64;
    return cap > t->cap || t->borrowed ? trace_times_resize(t, count, cap) : 0;
}

/* ---- Starts --------------------------------------------------------------------------------- */

/* The minimum and maximum of some starts. */
typedef struct reach {
    int64_t least, most;
} reach;

static void reach_add(reach *r, int64_t start_ps)
{
    r->least = start_ps < r->least ? start_ps : r->least;
    r->most = start_ps > r->most ? start_ps : r->most;
}

/* Of the events order[from] … order[to - 1], at least one; order NULL: from … to - 1. */
static reach reach_of(const trace_times *t, const uint32_t *order, size_t from, size_t to)
{
    int64_t first = trace_times_start(t, order ? order[from] : from);
    reach r = {first, first};
    for (size_t i = from + 1; i < to; i++)
        reach_add(&r, trace_times_start(t, order ? order[i] : i));
    return r;
}

/* A reference time for all of them; false: there is none. */
static bool middle_of_reach(reach r, int64_t *near)
{
    uint64_t apart = (uint64_t)r.most - (uint64_t)r.least;
    if (apart >= 2 * (uint64_t)SINK_PACKED_NEAR_PS)
        return false;
    *near = r.least + (int64_t)(apart - apart / 2);
    return true;
}

static size_t block_end(size_t from, size_t count)
{
    return count - from < 64 ? count : from + 64;
}

/* Reference times for blocks of `count` events in this order (NULL: unchanged). *out NULL: some
 * starts are too far apart. */
static int near_of_blocks(int64_t **out, const trace_times *t, const uint32_t *order, size_t count)
{
    int64_t *near = *out = vp_realloc_array(NULL, nears_of(BLOCKS, t->cap), sizeof *near);
    if (!near)
        return no_memory_for_events(t->cap);
    for (size_t i = 0; i < count; i += 64)
        if (!middle_of_reach(reach_of(t, order, i, block_end(i, count)), &near[i / 64])) {
            vp_free(near);
            *out = NULL;
            return 0;
        }
    return 0;
}

static void set_near(trace_times *t, int64_t *near, uint8_t shift)
{
    vp_free(t->near);
    t->near = near;
    t->shift = shift;
}

/* Gives each of the first `count` events its own reference time. */
static int tell_each(trace_times *t, size_t count)
{
    int64_t *near = vp_realloc_array(NULL, nears_of(EACH, t->cap), sizeof *near);
    if (!near)
        return no_memory_for_events(t->cap);
    for (size_t i = 0; i < count; i++)
        near[i] = trace_times_start(t, i);
    set_near(t, near, EACH);
    return 0;
}

/* Gives the first `count` events more reference times than before. */
static int refine_near_times(trace_times *t, size_t count)
{
    int64_t *near = NULL;
    if (t->shift == ALL)
        VP_TRY(near_of_blocks(&near, t, NULL, count));
    if (!near)
        return tell_each(t, count);
    set_near(t, near, BLOCKS);
    return 0;
}

/* Changes the reference time of event i's block, which is the last, so that it includes event i. */
static bool move_near(trace_times *t, size_t i, int64_t start_ps)
{
    reach r = reach_of(t, NULL, i / 64 * 64, i);
    reach_add(&r, start_ps);
    return middle_of_reach(r, &t->near[i / 64]);
}

/* Makes the start of event i, after the last one, representable. */
static __attribute__((noinline)) int place_anew(trace_times *t, size_t i, int64_t start_ps)
{
    for (;;) {
        size_t at = i >> t->shift;
        if (i == at << t->shift) /* the first event of this reference time */
            t->near[at] = start_ps;
        if (sink_is_near(start_ps, t->near[at]))
            return 0;
        if (t->shift == BLOCKS && move_near(t, i, start_ps))
            return 0;
        VP_TRY(refine_near_times(t, i));
    }
}

static inline int place_start(trace_times *t, size_t i, int64_t start_ps)
{
    bool first = !(i & ((UINT64_C(1) << t->shift) - 1)); /* the first event of its reference time */
    return !first && sink_is_near(start_ps, t->near[i >> t->shift]) ? 0
                                                                    : place_anew(t, i, start_ps);
}

/* The same for the events of a sink_times that spans at most 140 s. Any of its starts is a valid
 * reference for all, so this works block by block; event by event only if blocks are too large. */
static int place_close(trace_times *t, size_t at, const sink_times *s)
{
    size_t i = at, end = at + s->n;
    if (t->shift == ALL && !at)
        t->near[0] = s->first_ps;
    if (t->shift == ALL && sink_is_near(s->least_ps, t->near[0]) &&
        sink_is_near(s->most_ps, t->near[0]))
        return 0;
    if (t->shift == BLOCKS && i % 64 && sink_is_near(s->least_ps, t->near[i / 64]) &&
        sink_is_near(s->most_ps, t->near[i / 64]))
        i = (i / 64 + 1) * 64;
    while (i < end && t->shift == BLOCKS && i % 64 == 0) {
        t->near[i / 64] = s->first_ps;
        i += 64;
    }
    for (; i < end; i++)
        VP_TRY(place_start(t, i, sink_packed_start(&t->v[i], s->first_ps)));
    return 0;
}

/* Processes events [i, to), each near the previous one, and the first near *start. */
static int place_along(trace_times *t, size_t i, size_t to, int64_t *start)
{
    while (i < to) {
        int64_t at = *start = sink_packed_start(&t->v[i], *start);
        VP_TRY(place_start(t, i, at));
        size_t stop = t->shift == BLOCKS ? (i / 64 + 1) * 64 : i + 1;
        int64_t near = t->near[i >> t->shift];
        stop = stop < to ? stop : to;
        for (i++; i < stop; i++) {
            int64_t next = sink_packed_start(&t->v[i], at);
            if (!sink_is_near(next, near))
                break;
            at = next;
        }
        *start = at;
    }
    return 0;
}

/* Processes a longer sink_times, from one start to the next. */
static int place_far(trace_times *t, size_t at, const sink_times *s)
{
    int64_t start = s->first_ps;
    size_t i = at, end = at + s->n;
    for (size_t far = 0; far <= s->far_n; far++) {
        size_t to = far < s->far_n ? at + s->far[far].event : end;
        VP_TRY(place_along(t, i, to, &start));
        if (to == end)
            break;
        i = to;
        start = s->far[far].start_ps;
    }
    return 0;
}

static int take_longs(trace_times *t, size_t at, const sink_times *s)
{
    sink_packed *v = t->v + at;
    uint32_t behind = (uint32_t)t->long_n;
    if (!s->long_n)
        return 0;
    VP_TRY(vp_grow(&t->longs, &t->long_cap, t->long_n + s->long_n, sizeof *t->longs,
                   SINK_PACKED_LONGS));
    memcpy(t->longs + t->long_n, s->longs, s->long_n * sizeof *t->longs);
    for (size_t i = 0; i < s->n && behind; i++)
        v[i].dur += v[i].dur < SINK_PACKED_LONG ? 0 : behind;
    t->long_n += s->long_n;
    return 0;
}

int trace_times_take(trace_times *t, size_t at, const sink_times *s)
{
    bool close = (uint64_t)s->most_ps - (uint64_t)s->least_ps < (uint64_t)SINK_PACKED_NEAR_PS;
    VP_TRY(close ? place_close(t, at, s) : place_far(t, at, s));
    return take_longs(t, at, s);
}

/* ---- Events --------------------------------------------------------------------------------- */

int trace_times_set_wide(trace_times *t, size_t i, uint32_t kind)
{
    sink_packed_set_kind(&t->v[i], SINK_PACKED_WIDE);
    if (!t->wide)
        VP_TRY(resize_wide(t, t->cap));
    t->wide[i] = kind;
    return 0;
}

int trace_times_name_kinds(trace_times *t, size_t at, size_t n, const uint32_t *kinds)
{
    sink_packed *v = t->v + at;
    for (size_t i = 0; i < n; i++) {
        uint32_t kind = kinds[sink_packed_kind(&v[i])];
        if (kind < SINK_PACKED_WIDE)
            sink_packed_set_kind(&v[i], kind);
        else
            VP_TRY(trace_times_set_wide(t, at + i, kind));
    }
    return 0;
}

static int times_put_long(trace_times *t, int64_t dur_ps, uint32_t *packed)
{
    VP_TRY(vp_grow(&t->longs, &t->long_cap, t->long_n + 1, sizeof *t->longs, SINK_PACKED_LONGS));
    *packed = SINK_PACKED_LONG + (uint32_t)t->long_n;
    t->longs[t->long_n++] = dur_ps;
    return 0;
}

int trace_times_put(trace_times *t, size_t i, int64_t start_ps, int64_t dur_ps, uint32_t kind)
{
    uint32_t dur = sink_pack_dur(dur_ps);
    VP_TRY(place_start(t, i, start_ps));
    if (dur == SINK_PACKED_LONG)
        VP_TRY(times_put_long(t, dur_ps, &dur));
    sink_pack(&t->v[i], start_ps, dur, 0);
    return trace_times_set_kind(t, i, kind);
}

int trace_times_copy_starts(trace_times *to, const trace_times *from, size_t count, size_t cap)
{
    *to = (trace_times){0};
    VP_TRY(trace_times_resize(to, 0, cap));
    if (!count)
        return 0;
    if (from->shift != ALL) {
        int64_t *near = vp_realloc_array(to->near, nears_of(from->shift, cap), sizeof *near);
        if (!near)
            return no_memory_for_events(cap);
        to->near = near;
        to->shift = from->shift;
    }
    memcpy(to->near, from->near, nears_of(from->shift, count) * sizeof *to->near);
    sink_pack_beside(to->v, from->v, count);
    return 0;
}

/* ---- Reordering ---- */

/* End of the segment at `from` whose events are permuted only among themselves: the iterations of a
 * loop are ordered one by one, in memory that stays cached. */
static size_t segment_end(const uint32_t *order, size_t from)
{
    size_t i = from, farthest = from;
    for (; i <= farthest; i++)
        farthest = order[i] > farthest ? order[i] : farthest;
    return i;
}

/* Permutes items of one size. The size is a constant at every call, so the compiler specializes
 * it. */
static inline void permute_items(void *items, size_t size, void *buffer, const uint32_t *order,
                                 size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        memcpy((char *)buffer + (i - from) * size, (char *)items + order[i] * size, size);
    memcpy((char *)items + from * size, buffer, (to - from) * size);
}

static int permute_all(trace_times *t, const uint32_t *order, size_t count, sort_buffer *buffer)
{
    for (size_t from = 0, to; from < count; from = to) {
        to = segment_end(order, from);
        if (to == from + 1)
            continue;
        size_t need = (to - from) * sizeof *t->v / sizeof *buffer->p + 1;
        VP_TRY(vp_grow(&buffer->p, &buffer->cap, need, sizeof *buffer->p, SIZE_MAX / 16));
        permute_items(t->v, sizeof *t->v, buffer->p, order, from, to);
        if (t->shift == EACH)
            permute_items(t->near, sizeof *t->near, buffer->p, order, from, to);
        if (t->wide)
            permute_items(t->wide, sizeof *t->wide, buffer->p, order, from, to);
    }
    return 0;
}

int trace_times_permute(trace_times *t, const uint32_t *order, size_t count, sort_buffer *buffer)
{
    int64_t *near = NULL;
    if (t->shift == BLOCKS) {
        VP_TRY(near_of_blocks(&near, t, order, count));
        if (!near)
            VP_TRY(tell_each(t, count));
    }
    int rc = permute_all(t, order, count, buffer);
    if (near)
        set_near(t, near, BLOCKS);
    return rc;
}

/* True if the events that move across the end of a block, and the one that moves back, are still
 * near their reference times. */
static bool near_after_move(const trace_times *t, size_t from, size_t to)
{
    if (t->shift != BLOCKS)
        return t->shift == ALL;
    for (size_t b = to / 64 + 1; b <= from / 64; b++)
        if (!sink_is_near(trace_times_start(t, b * 64 - 1), t->near[b]))
            return false;
    return sink_is_near(trace_times_start(t, from), t->near[to / 64]);
}

bool trace_times_can_move(const trace_times *t, size_t from, size_t to)
{
    return !t->wide && near_after_move(t, from, to);
}

bool trace_times_move(trace_times *t, size_t from, size_t to)
{
    if (!trace_times_can_move(t, from, to))
        return false;
    sink_packed moved = t->v[from];
    memmove(t->v + to + 1, t->v + to, (from - to) * sizeof moved);
    t->v[to] = moved;
    return true;
}
