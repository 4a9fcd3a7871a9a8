/* Sums over the calls of one host thread by name, in two independent halves, so that a trace with
 * one long thread uses two processors. The caller owns the output. */
#ifndef VP_ANALYZE_THREAD_CALLS_H
#define VP_ANALYZE_THREAD_CALLS_H

#include "trace/analyze/device/self.h"
#include "trace/analyze/device/sweep.h"
#include "trace/base/freelist.h"

/* A name on a thread. If folded, it is the name on all threads of its process, and `track` is the
 * one with most of its self time. */
typedef struct host_row {
    uint32_t track, kind, threads;
    int64_t track_self_ps;
    int64_t calls, total_ps, self_ps, idle_ps, blocked_ps;
    int64_t max_ps, max_start_ps;
    nesting open;
} host_row;

typedef struct host_rows {
    host_row *v;
    size_t n, cap;
} host_rows;

typedef struct host_self {
    uint32_t kind;
    int64_t self_ps, idle_ps;
} host_self;

typedef struct host_selves {
    host_self *v;
    size_t n, cap;
} host_selves;

/* Parameters that are the same for all threads. */
typedef struct host_asked {
    const analysis *a;
    const spans *idle;          /* times at which all devices are idle; none without devices */
    const uint8_t *hidden_kind; /* true if events of a kind are not work */
} host_asked;

/* Workspace for counting one thread after another: the positions of rows by kind. Zero-initialize.
 */
typedef struct host_places {
    vp_freelist_item item;
    uint32_t *place;
    uint32_t *valid; /* by kind: the use in which `place` was set */
    uint32_t use;
} host_places;

/* Allocates it for the kinds of the trace. VP_ENOMEM. */
int host_places_new(host_places **out, const trace *t);
void host_places_free(host_places *p);
/* Clears the positions of rows. */
void host_places_begin(host_places *p);
/* The position of the row of a kind; UINT32_MAX: none yet. */
static inline uint32_t host_place_of(const host_places *p, uint32_t kind)
{
    return p->valid[kind] == p->use ? p->place[kind] : UINT32_MAX;
}
static inline void host_place_set(host_places *p, uint32_t kind, size_t at)
{
    p->valid[kind] = p->use;
    p->place[kind] = (uint32_t)at;
}

/* The idle spans without the first and the last, which are before the first op and after the last.
 */
spans host_between_ops(const spans *idle);

/* Counts all rows of a track, without self_ps and idle_ps. VP_ENOMEM, VP_ELIMIT. */
int host_calls_count(host_rows *out, const host_asked *x, host_places *p, uint32_t track);
/* Adds these two, at most for the same kinds. */
int host_selves_count(host_selves *out, const host_asked *x, host_places *p, uint32_t track);

#endif
