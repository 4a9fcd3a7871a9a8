/* Internal header of ex_pftrace_from_xspace: its tracks and the content of each event. */
#ifndef VP_EXPORT_PFTRACE_PFT_XSPACE_H
#define VP_EXPORT_PFTRACE_PFT_XSPACE_H

#include "trace/export/pftrace/pft_ends.h"
#include "trace/export/xspace/xspace_walk.h"

/* The encoded arguments that all events of one metadata share. */
typedef struct pft_shared {
    vp_str bytes;      /* in the names' arena; NULL: not made yet */
    uint32_t sequence; /* the last sequence that has its names and texts */
} pft_shared;

/* The interned names of a plane in the current sequence, by id. */
typedef struct pft_told {
    uint32_t *metas, *keys, *texts; /* the last sequence that has it */
    size_t text_cap;
    pft_shared *shared; /* by index of the plane's metadata */
} pft_told;

/* The events of a thread whose lines are not ordered by time: their positions and their order. */
typedef struct pft_index {
    ex_spans spans; /* kind: index of the position */
    ex_moves moves; /* in the order of the spans */
    struct pft_index_place {
        int64_t offset;
        uint32_t n, track; /* bytes, and the index of the line in the layout */
    } * places;
    size_t place_count, place_cap;
    size_t next, move; /* of spans and moves */
} pft_index;

/* Reads lines [first, end) of the walk's layout. Reports damage to the walk. */
int pft_index_make(pft_index *x, xj_walk *walk, size_t first, size_t end);
void pft_index_free(pft_index *x);

/* The tracks of a memory's allocators. */
typedef struct pft_memories {
    vp_map at; /* hash of process and name to its id */
    uint32_t count;
} pft_memories;

typedef struct pft_xspace {
    xj_walk walk;  /* first member */
    pft_told told; /* of the current plane */
    pft_writer writer;
    pft_ends ends;
    pft_pool pool;       /* tracks for slices that may overlap */
    ex_lanes lanes;      /* for a thread whose events are ordered by time */
    uint32_t lanes_told; /* lanes of the current thread with a track */
    pft_index index;
    bool headed;               /* the trace has begun */
    bool indexed, in_sequence; /* id of the current thread */
    pft_memories memories;
    size_t last; /* of the current thread: walk.track is its first line, this is after its last */
    uint64_t pooled; /* number of tracks of pools so far */
} pft_xspace;

/* Track ids. Those of processes and threads are indices of the layout, because pids and tids use
 * all 32 bits. */
#define PFT_TRACK_LANE (UINT64_C(1) << 58)
#define PFT_TRACK_POOL (UINT64_C(2) << 58)
#define PFT_TRACK_MEMORY (UINT64_C(3) << 58)
/* owner: index of any of the process's planes. */
static inline uint64_t pft_process_track(uint32_t owner)
{
    return 2 * (uint64_t)owner + 1;
}
/* thread: index of any of its lines. */
static inline uint64_t pft_thread_track(uint32_t thread)
{
    return 2 * (uint64_t)thread + 2;
}

int pft_told_make(pft_told *t, const xj_names *n);
void pft_told_free(pft_told *t);
/* Writes the event's begin on a track, with its names, arguments and flow, and the memory of its
 * allocator. VP_ECORRUPT (not recorded): damaged; then nothing is written. */
int pft_xspace_event(pft_xspace *x, const xj_track *t, const xj_event *e, const xj_span *span,
                     uint64_t track);

#endif
