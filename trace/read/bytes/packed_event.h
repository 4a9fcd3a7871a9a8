/* An event in 12 bytes: what readers that know how many come write straight into the columns of a
 * trace (sink_columns), and what model/event_times keeps.
 *
 * Of a start only the low 48 bits are kept. They say where it is within 2^47 ps (140 s) of a time
 * that is known: `near`, one for a whole track, one for some of its events, or for each of them
 * (model/event_times.h). A length of 2.1 ms and more is told in steps of what clocks count in; one
 * that does not fit is in a list beside the events, and its place there stands here. Of a kind that
 * does not fit, the largest value says so. */
#ifndef VP_READ_PACKED_EVENT_H
#define VP_READ_PACKED_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sink_packed {
    uint32_t low;  /* of the start */
    uint32_t high; /* 16 bits of the start, and above them the kind */
    uint32_t dur;  /* below SINK_PACKED_STEPS ps, then steps, then places in the list of lengths */
} sink_packed;

/* Hosts and GPUs count nanoseconds, TPUs of 800 MHz 1.25 ns: whole steps are all of them. */
#define SINK_PACKED_STEP_PS 250
#define SINK_PACKED_STEPS (UINT32_C(1) << 31)
#define SINK_PACKED_LONG (UINT32_C(7) << 29) /* so steps reach 402 ms */
#define SINK_PACKED_LONGS (UINT32_MAX - SINK_PACKED_LONG)
#define SINK_PACKED_WIDE UINT16_MAX
#define SINK_PACKED_NEAR_PS (INT64_C(1) << 47)

/* What `dur` is of a length; SINK_PACKED_LONG: it goes into the list. */
static inline uint32_t sink_pack_dur(int64_t dur_ps)
{
    if ((uint64_t)dur_ps < SINK_PACKED_STEPS)
        return (uint32_t)dur_ps;
    uint64_t steps = (uint64_t)dur_ps / SINK_PACKED_STEP_PS;
    return steps < SINK_PACKED_LONG - SINK_PACKED_STEPS &&
                   steps * SINK_PACKED_STEP_PS == (uint64_t)dur_ps
               ? SINK_PACKED_STEPS + (uint32_t)steps
               : SINK_PACKED_LONG;
}

/* The length of dur < SINK_PACKED_LONG. */
static inline int64_t sink_packed_dur(uint32_t dur)
{
    return dur < SINK_PACKED_STEPS ? dur : (int64_t)(dur - SINK_PACKED_STEPS) * SINK_PACKED_STEP_PS;
}

/* What stands as the length of an event on its other clock: how much longer it is there than on its
 * own, the sign in the lowest bit. Clocks hardly differ. */
static inline int64_t sink_dur_beside(int64_t dur_ps, int64_t own_ps)
{
    int64_t more = (int64_t)((uint64_t)dur_ps - (uint64_t)own_ps);
    return (int64_t)((uint64_t)more << 1 ^ (uint64_t)(more >> 63));
}

/* The length of which that is said. */
static inline int64_t sink_dur_from(int64_t beside, int64_t own_ps)
{
    uint64_t more = (uint64_t)beside >> 1 ^ (0 - ((uint64_t)beside & 1));
    return (int64_t)((uint64_t)own_ps + more);
}

/* kind < SINK_PACKED_WIDE, or that. */
static inline void sink_pack(sink_packed *p, int64_t start_ps, uint32_t dur, uint32_t kind)
{
    p->low = (uint32_t)(uint64_t)start_ps;
    p->high = (uint32_t)((uint64_t)start_ps >> 32 & UINT16_MAX) | kind << 16;
    p->dur = dur;
}

/* Events that have one clock only, as those of the other: the same starts, and 0 for lengths, as
 * sink_dur_beside says of equal ones. */
static inline void sink_pack_beside(sink_packed *to, const sink_packed *own, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = own[i];
        to[i].dur = 0;
    }
}

/* Its start, which lies in [near - 2^47, near + 2^47) ps. */
static inline int64_t sink_packed_start(const sink_packed *p, int64_t near)
{
    uint64_t bits = (uint64_t)p->high << 32 | p->low;
    int64_t behind = (int64_t)((bits - (uint64_t)near) << 16) >> 16;
    return (int64_t)((uint64_t)near + (uint64_t)behind);
}

static inline uint32_t sink_packed_kind(const sink_packed *p)
{
    return p->high >> 16;
}

static inline void sink_packed_set_kind(sink_packed *p, uint32_t kind)
{
    p->high = (p->high & UINT16_MAX) | kind << 16;
}

static inline bool sink_is_near(int64_t start_ps, int64_t near)
{
    return (uint64_t)start_ps - (uint64_t)near + (uint64_t)SINK_PACKED_NEAR_PS <
           2 * (uint64_t)SINK_PACKED_NEAR_PS;
}

#endif
