/* When the events of a track begin, how long they are and of which kind: 12 bytes an event, exact
 * for every int64. model/trace's tracks own one for each clock; analyses use trace_start, trace_dur
 * and trace_kind_of.
 *
 * The starts of events i with the same i >> shift are told from one time of `near`. At first that
 * is all of them (shift 63); where a track lasts longer than 140 s it is 64 (shift 6), and where
 * some of those lie 281 s apart it is each alone (shift 0: 8 bytes more, and any start is exact).
 */
#ifndef VP_MODEL_EVENT_TIMES_H
#define VP_MODEL_EVENT_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/bytes/sink.h"

typedef struct trace_times {
    sink_packed *v;
    int64_t *near;
    uint8_t shift;
    bool borrowed;  /* `v` is the reader's until it is settled (sink.settle) */
    size_t cap;     /* of v */
    int64_t *longs; /* lengths that do not fit, by the place that `dur` says */
    size_t long_n, long_cap;
    uint32_t *wide; /* kinds of events whose packed one is SINK_PACKED_WIDE; NULL: none is */
} trace_times;

void trace_times_free(trace_times *t);
/* Takes room for `cap` events that stays the reader's; there are none yet. VP_ENOMEM. */
int trace_times_borrow(trace_times *t, sink_packed *v, size_t cap);
/* Keeps what it borrowed, if that is *v, which becomes NULL. */
void trace_times_keep(trace_times *t, sink_packed **v);
/* Room for `need` events in memory of its own, where there are `count`. VP_ENOMEM; VP_ELIMIT: more
 * than a track may have. */
int trace_times_room(trace_times *t, size_t count, size_t need);
/* Room for `cap` events, where there are `count`. VP_ENOMEM. */
int trace_times_resize(trace_times *t, size_t count, size_t cap);
/* The event behind the last, for which there is room. VP_ENOMEM, VP_ELIMIT. */
int trace_times_put(trace_times *t, size_t i, int64_t start_ps, int64_t dur_ps, uint32_t kind);
/* The events of a stretch, which stand in v[at], v[at + 1], … already; not their kinds. VP_ENOMEM,
 * VP_ELIMIT. */
int trace_times_take(trace_times *t, size_t at, const sink_stretch *s);
/* Another kind for event i, in event_times.c one that does not fit. VP_ENOMEM. */
int trace_times_set_wide(trace_times *t, size_t i, uint32_t kind);
static inline int trace_times_set_kind(trace_times *t, size_t i, uint32_t kind)
{
    if (kind >= SINK_PACKED_WIDE)
        return trace_times_set_wide(t, i, kind);
    sink_packed_set_kind(&t->v[i], kind);
    return 0;
}
/* Event i from `at` on becomes of the kind kinds[its kind so far]. */
int trace_times_name_kinds(trace_times *t, size_t at, size_t n, const uint32_t *kinds);
/* The starts of the first `count` events of another's, with room for `cap`; `to` is empty. Lengths
 * become 0, and kinds that do not fit are left behind. */
int trace_times_copy_starts(trace_times *to, const trace_times *from, size_t count, size_t cap);

/* What sorting uses again and again, as little as it can: to touch more costs more than to sort.
 * The user frees p. */
typedef struct sort_room {
    int64_t *p;
    size_t cap; /* of p */
} sort_room;
/* The `count` events in another order: event i becomes what order[i] was. */
int trace_times_permute(trace_times *t, const uint32_t *order, size_t count, sort_room *room);
/* Puts event `from` before event `to`, at most 64 in front of it. false, and nothing changed: that
 * is not so simple here. */
bool trace_times_can_move(const trace_times *t, size_t from, size_t to);
bool trace_times_move(trace_times *t, size_t from, size_t to);

static inline int64_t trace_times_start(const trace_times *t, size_t i)
{
    return sink_packed_start(&t->v[i], t->near[i >> t->shift]);
}
static inline int64_t trace_times_dur(const trace_times *t, size_t i)
{
    uint32_t dur = t->v[i].dur;
    return dur < SINK_PACKED_LONG ? sink_packed_dur(dur) : t->longs[dur - SINK_PACKED_LONG];
}
static inline uint32_t trace_times_kind(const trace_times *t, size_t i)
{
    uint32_t kind = sink_packed_kind(&t->v[i]);
    return kind != SINK_PACKED_WIDE ? kind : t->wide[i];
}

#endif
