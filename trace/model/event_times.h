/* Start, duration and kind of a track's events: 12 bytes per event, exact for every int64. Tracks
 * of model/trace own one for each clock; analyses use trace_start, trace_dur and trace_kind_of.
 * Failures: VP_ENOMEM, VP_ELIMIT.
 *
 * Starts are decoded relative to reference times in `near`: event i uses near[i >> shift]. At first
 * there is one reference for all events (shift 63). For tracks longer than 140 s there is one per
 * 64 events (shift 6). If some of these are 281 s apart, there is one per event (shift 0: 8 bytes
 * more, and any start is exact). */
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
    bool borrowed;  /* `v` belongs to the reader until it is settled (sink.settle) */
    size_t cap;     /* of v */
    int64_t *longs; /* durations that do not fit, indexed by `dur` */
    size_t long_n, long_cap;
    uint32_t *wide; /* kinds of events with SINK_PACKED_WIDE; NULL: none */
} trace_times;

void trace_times_free(trace_times *t);
/* Uses memory for `cap` events that still belongs to the reader; it has no events yet.
 * VP_ENOMEM. */
int trace_times_borrow(trace_times *t, sink_packed *v, size_t cap);
/* Takes ownership of the borrowed memory, if it is *v, which becomes NULL. */
void trace_times_keep(trace_times *t, sink_packed **v);
/* Reserves owned memory for `need` events, of which `count` exist. VP_ENOMEM; VP_ELIMIT: more than
 * a track may have. */
int trace_times_reserve(trace_times *t, size_t count, size_t need);
/* Resizes the memory to `cap` events, of which `count` exist. VP_ENOMEM. */
int trace_times_resize(trace_times *t, size_t count, size_t cap);
/* Appends event i, for which memory is reserved. VP_ENOMEM, VP_ELIMIT. */
int trace_times_put(trace_times *t, size_t i, int64_t start_ps, int64_t dur_ps, uint32_t kind);
/* Appends the events of a sink_times, which are already in v[at], v[at + 1], …, without their
 * kinds. VP_ENOMEM, VP_ELIMIT. */
int trace_times_take(trace_times *t, size_t at, const sink_times *s);
/* Changes the kind of event i; the _wide version in event_times.c sets a kind that does not fit.
 * VP_ENOMEM. */
int trace_times_set_wide(trace_times *t, size_t i, uint32_t kind);
static inline int trace_times_set_kind(trace_times *t, size_t i, uint32_t kind)
{
    if (kind >= SINK_PACKED_WIDE)
        return trace_times_set_wide(t, i, kind);
    sink_packed_set_kind(&t->v[i], kind);
    return 0;
}
/* Replaces the kinds of events from `at` on by kinds[present kind]. */
int trace_times_name_kinds(trace_times *t, size_t at, size_t n, const uint32_t *kinds);
/* Copies the starts of the first `count` events to the empty `to`, with memory for `cap`. Durations
 * become 0; kinds that do not fit are not copied. */
int trace_times_copy_starts(trace_times *to, const trace_times *from, size_t count, size_t cap);

/* Scratch memory for sorting, reused and as small as possible, because touching more memory costs
 * more than sorting. The user frees p. */
typedef struct sort_buffer {
    int64_t *p;
    size_t cap; /* of p */
} sort_buffer;
/* Reorders the `count` events: event i becomes the former order[i]. */
int trace_times_permute(trace_times *t, const uint32_t *order, size_t count, sort_buffer *buffer);
/* Moves event `from` before event `to`, at most 64 events earlier. false, with nothing changed: not
 * possible without new reference times. */
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
