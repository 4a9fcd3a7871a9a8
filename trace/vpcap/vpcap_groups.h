/* Assigns the events of a recording to steps as XProf does (docs/reference/xprof.md#step-grouping),
 * for readers that do not group events themselves. Steps that are not inside another step are
 * numbered from 0, ordered by start. Events nested in a step on its thread get its number. A zone
 * outside of steps that receives a flow gets the number of the zone that sent it, and so do events
 * nested in it. Work on a device gets the number of the zone with its correlation. The caller frees
 * the groups. Failures: VP_ENOMEM. */
#ifndef VP_IMAGE_VPCAP_GROUPS_H
#define VP_IMAGE_VPCAP_GROUPS_H

#include "trace/base/map.h"
#include "trace/vpcap/vpcap.h"

#define VG_NO_GROUP (-1)

/* A zone that passes its number to nested events: a step, or a zone that receives a flow. */
typedef struct vg_carrier {
    int64_t start, end;
    uint64_t flow_in; /* 0: none */
    uint32_t thread;
    uint32_t seq;    /* of two with equal times, the later one encloses the earlier one */
    uint32_t parent; /* VPCAP_NONE: none */
    uint32_t child, sibling, same_flow, giver; /* heads and links of lists */
    int32_t group;
    bool is_step;
} vg_carrier;

/* A zone that sends a flow or launches work. */
typedef struct vg_giver {
    int64_t start, end;
    uint64_t key; /* the flow, or the correlation */
    uint32_t thread;
    uint32_t next; /* in its carrier's list */
    bool is_flow;
} vg_giver;

typedef struct vg_groups {
    vg_carrier *carriers; /* after vg_resolve: by thread, then by start, outer ones first */
    vg_giver *givers;
    size_t carrier_count, carrier_cap, giver_count, giver_cap;
    vp_map by_correlation; /* correlation → group */
} vg_groups;

void vg_free(vg_groups *g);
/* Records an event of this thread if groups depend on it. */
int vg_note(vg_groups *g, uint32_t thread, const vpcap_event *e);
/* Assigns the groups. Call after the last event. */
int vg_resolve(vg_groups *g);
/* The group of the zone that launched this work, or VG_NO_GROUP. */
int64_t vg_of_correlation(const vg_groups *g, uint32_t correlation);

/* A walk over one thread's events, ordered by start. */
typedef struct vg_walk {
    const vg_groups *g;
    size_t next, end; /* carriers of the thread that have not begun yet */
    uint32_t at;      /* the carrier that began last, or one that encloses it; VPCAP_NONE */
} vg_walk;

void vg_walk_begin(vg_walk *w, const vg_groups *g, uint32_t thread);
int64_t vg_walk_search(vg_walk *w, int64_t start, int64_t end);
static inline int64_t vg_walk_group(vg_walk *w, int64_t start, int64_t end)
{
    bool simple = w->at == VPCAP_NONE && w->next == w->end;
    return simple ? VG_NO_GROUP : vg_walk_search(w, start, end);
}

#endif
