/* An event in 12 bytes. Readers that know the number of events write them directly into the columns
 * of a trace (sink_columns); model/event_times stores them. Nothing is allocated here.
 *
 * start: only the low 48 bits are stored. They define a start within 2^47 ps (140 s) of a known
 * reference time `near`. There is one reference for a whole track, for a block of its events, or
 * for each event (model/event_times.h).
 *
 * duration: from 2.1 ms on it is stored in steps of SINK_PACKED_STEP_PS. A duration that does not
 * fit is stored in a list next to the events, and `dur` holds its index.
 *
 * kind: a kind that does not fit is stored as the largest value, SINK_PACKED_WIDE. */
#ifndef VP_READ_PACKED_EVENT_H
#define VP_READ_PACKED_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sink_packed {
    uint32_t low;  /* low bits of the start */
    uint32_t high; /* 16 bits of the start; above them the kind */
    uint32_t dur;  /* below SINK_PACKED_STEPS: ps; then steps; then indices into the list */
} sink_packed;

/* Hosts and GPUs count in ns, TPUs of 800 MHz in 1.25 ns; all are multiples of this step. */
#define SINK_PACKED_STEP_PS 250
#define SINK_PACKED_STEPS (UINT32_C(1) << 31)
#define SINK_PACKED_LONG (UINT32_C(7) << 29) /* so steps reach 402 ms */
#define SINK_PACKED_LONGS (UINT32_MAX - SINK_PACKED_LONG)
#define SINK_PACKED_WIDE UINT16_MAX
#define SINK_PACKED_NEAR_PS (INT64_C(1) << 47)

/* Encodes a duration as `dur`. SINK_PACKED_LONG: it must go into the list. */
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

/* Decodes a dur < SINK_PACKED_LONG to ps. */
static inline int64_t sink_packed_dur(uint32_t dur)
{
    return dur < SINK_PACKED_STEPS ? dur : (int64_t)(dur - SINK_PACKED_STEPS) * SINK_PACKED_STEP_PS;
}

/* Encodes an event's duration on its second clock as the difference to the one on its own clock,
 * with the sign in the lowest bit (zigzag). The two durations hardly differ. */
static inline int64_t sink_dur_beside(int64_t dur_ps, int64_t own_ps)
{
    int64_t more = (int64_t)((uint64_t)dur_ps - (uint64_t)own_ps);
    return (int64_t)((uint64_t)more << 1 ^ (uint64_t)(more >> 63));
}

/* Inverse of sink_dur_beside. */
static inline int64_t sink_dur_from(int64_t beside, int64_t own_ps)
{
    uint64_t more = (uint64_t)beside >> 1 ^ (0 - ((uint64_t)beside & 1));
    return (int64_t)((uint64_t)own_ps + more);
}

/* kind: at most SINK_PACKED_WIDE. */
static inline void sink_pack(sink_packed *p, int64_t start_ps, uint32_t dur, uint32_t kind)
{
    p->low = (uint32_t)(uint64_t)start_ps;
    p->high = (uint32_t)((uint64_t)start_ps >> 32 & UINT16_MAX) | kind << 16;
    p->dur = dur;
}

/* Copies events of one clock as events of the second clock: the same starts, and duration 0, the
 * code of sink_dur_beside for equal durations. */
static inline void sink_pack_beside(sink_packed *to, const sink_packed *own, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = own[i];
        to[i].dur = 0;
    }
}

/* Decodes a start in [near - 2^47, near + 2^47) ps. */
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
