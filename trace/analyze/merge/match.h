/* Matches the collective calls of a report across the devices that take part in them. Waits and
 * stragglers are computed from the matches (docs/reference/metrics.md#devices-and-stragglers). The
 * caller frees them.
 *
 * Calls are matched by kind, name, size, group members and order. Devices of one host share its
 * clock. Clocks of several hosts are aligned by the ends of matched calls, because a collective
 * ends at about the same time everywhere. For the same reason, devices with separate clocks (TPU)
 * are compared only by the durations of their calls. */
#ifndef VP_ANALYZE_MATCH_H
#define VP_ANALYZE_MATCH_H

#include <stdbool.h>

#include "include/view_profile.h"

/* The calls of one kind on all their devices. */
typedef struct match_group {
    vp_collective **members; /* in the order of devices */
    size_t count;
    bool by_length; /* compared by durations, not by starts */
    bool equal;     /* all devices have the same number of calls */
    int64_t calls;  /* of the device with the fewest */
    int64_t stride; /* of the calls that can be compared */
} match_group;

typedef struct match {
    const vp_report *r;
    vp_collective **order; /* all members of all groups */
    match_group *groups;   /* sorted by number of calls */
    size_t group_count;
    uint32_t *host_of; /* by device; below host_count */
    size_t host_count;
    int64_t *offset_ps; /* by host: offset of its times */
    int64_t *error_ps;  /* by host: at least half of its calls deviate by at most this */
    int64_t *compared;  /* by host: number of calls that determine its offset */
    bool *known;        /* by host: its offset is known */
    uint32_t reference; /* the reference host of the offsets */
} match;

/* r is not changed; m points to its collectives, which the owner of r may change. */
int match_make(match *m, const vp_report *r);
void match_free(match *m);
/* True if the clocks of all hosts can be compared. */
bool match_aligned(const match *m);

/* For one call: how long each member waited; *last: which arrived last (SIZE_MAX: all at the same
 * time); *weight: the number of calls that this one represents. false: unknown whether the members'
 * calls belong together. */
bool match_call(int64_t *wait_ps, size_t *last, int64_t *weight, const match *m,
                const match_group *g, int64_t call);

int64_t match_start(const vp_collective *member, int64_t call); /* on the aligned clock */
/* The exposed part of a member's call; 0: unknown. */
int64_t match_exposed(const vp_collective *member, int64_t call);

#endif
