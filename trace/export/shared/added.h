/* What is written behind a file's own events: the tracks that its analysis tells (model/derived.h).
 * They are asked for when the last event is out, so that nobody waits for the first one; each group
 * becomes a process of its own, under a number that the file does not use. Whoever exports makes an
 * ex_added, owns it until its stream is closed, and frees it; exporters find it in their ex_pick.
 *
 * Ends of slices are rounded half up to ns, never start and length apart; of idle time, whose
 * pieces are summed, the lengths are rounded so that their sum is that of the exact ones, and a
 * slice may so begin or end 1 ns off. What is finer is told in the slice: its length in ps. */
#ifndef VP_EXPORT_ADDED_H
#define VP_EXPORT_ADDED_H

#include "trace/base/buf.h"
#include "trace/export/shared/pick.h"
#include "trace/model/derived.h"

typedef struct ex_added {
    /* Makes the tracks; *out NULL: there are none. They live as long as the ex_added. */
    int (*make)(void *ctx, const derived **out);
    void *ctx;
    /* The writers' own. */
    const derived *tracks;
    bool made, told;
    int64_t shift_ns; /* from the file's time to that of what is exported */
    uint32_t *pids;   /* the file's own, ascending */
    size_t pid_count;
    uint32_t *group_pid;       /* of each group */
    size_t track, slice;       /* the next */
    size_t group_track;        /* the first of the group at hand */
    int64_t exact_ps, told_ns; /* of the track at hand: lengths so far, before and after rounding */
    int64_t last_end_ns;
    uint32_t *named; /* of each text of the tracks: the sequence that has a number for it */
    const ex_pick *pick;
} ex_added;

/* Makes the tracks, once. pids: of the file's processes, copied. 1: there are tracks to write; 0:
 * there are none, or the pick counts slices. */
int ex_added_begin(ex_added *a, const ex_pick *pick, const uint32_t *pids, size_t pid_count,
                   int64_t shift_ns);
void ex_added_free(ex_added *a);

/* A slice as it is exported. */
typedef struct ex_added_slice {
    const derived_slice *from;
    int64_t start_ns, end_ns;
} ex_added_slice;
/* The next slice of the track at hand; 0: it has no more, and the next track is at hand. Slices
 * outside the pick's window are passed over. */
int ex_added_next(ex_added *a, ex_added_slice *out);
static inline bool ex_added_first_of_group(const ex_added *a)
{
    return a->track == a->group_track;
}

/* Appends events of Trace Event JSON until the buffer is full. 1: there are more; 0: that was all.
 * *any: whether there is an event before. */
int ex_added_json(ex_added *a, vp_buf *out, bool *any);

#endif
