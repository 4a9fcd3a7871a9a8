/* Internal header of ex_pftrace_from_xspace: its tracks and the content of each event. */
#ifndef VP_EXPORT_PFTRACE_PFT_XSPACE_H
#define VP_EXPORT_PFTRACE_PFT_XSPACE_H

#include "trace/export/pftrace/pft_ends.h"
#include "trace/export/xspace/xspace_walk.h"

/* The arguments that all events of one metadata share, as they are written. */
typedef struct pft_shared {
    vp_str bytes;      /* in the names' arena; NULL: not made yet */
    uint32_t sequence; /* the last one that was told their names and texts */
} pft_shared;

/* What of a plane's names the sequence at hand has told, by its number. */
typedef struct pft_told {
    uint32_t *metas, *keys, *texts; /* the last sequence that told it */
    size_t text_cap;
    pft_shared *shared; /* by the plane's metadata */
} pft_told;

/* The events of a thread whose lines do not stand in the order of time: where they are, and in
 * which order they come. */
typedef struct pft_index {
    ex_spans spans; /* kind: which of the places */
    ex_moves moves; /* in the order of the spans */
    struct pft_index_place {
        int64_t offset;
        uint32_t n, track; /* bytes, and the line's number in the layout */
    } * places;
    size_t place_count, place_cap;
    size_t next, move; /* of spans and moves */
} pft_index;

/* Of the lines [first, end) of the walk's layout. Tells the walk of damage. */
int pft_index_make(pft_index *x, xj_walk *walk, size_t first, size_t end);
void pft_index_free(pft_index *x);

/* The tracks of a memory's allocators. */
typedef struct pft_memories {
    vp_map at; /* hash of process and name to its number */
    uint32_t count;
} pft_memories;

typedef struct pft_xspace {
    xj_walk walk;  /* first member */
    pft_told told; /* of the plane at hand */
    pft_writer writer;
    pft_ends ends;
    pft_pool pool;       /* of slices that may overlap at will */
    ex_lanes lanes;      /* of a thread whose events come in the order of time */
    uint32_t lanes_told; /* lanes of the thread at hand that have a track */
    pft_index index;
    bool headed;               /* the trace has begun */
    bool indexed, in_sequence; /* the thread at hand */
    pft_memories memories;
    size_t last;     /* the thread at hand: walk.track is its first line, this behind its last */
    uint64_t pooled; /* tracks of pools ever */
} pft_xspace;

/* Numbers of tracks. Those of processes and threads are of the layout's, since pids and tids are
 * any 32 bits and leave no room for the others. */
#define PFT_TRACK_LANE (UINT64_C(1) << 58)
#define PFT_TRACK_POOL (UINT64_C(2) << 58)
#define PFT_TRACK_MEMORY (UINT64_C(3) << 58)
/* owner: of any of the process's planes. */
static inline uint64_t pft_process_track(uint32_t owner)
{
    return 2 * (uint64_t)owner + 1;
}
/* thread: of any of its lines. */
static inline uint64_t pft_thread_track(uint32_t thread)
{
    return 2 * (uint64_t)thread + 2;
}

int pft_told_make(pft_told *t, const xj_names *n);
void pft_told_free(pft_told *t);
/* Writes the event's begin on a track, with its names, arguments and flow; and its allocator's
 * memory. VP_ECORRUPT (not recorded): damaged; nothing is written then. */
int pft_xspace_event(pft_xspace *x, const xj_track *t, const xj_event *e, const xj_span *span,
                     uint64_t track);

#endif
