/* Analysis tracks (model/derived.h) that are written after the events of a file. They are requested
 * after the last event, so that they do not delay the first one. Each group becomes a separate
 * process with a pid that the file does not use. The caller of an exporter owns the ex_added until
 * the stream is closed; exporters find it in their ex_pick.
 *
 * Ends of slices are rounded half up to ns, never start and length separately. The slices of idle
 * time are rounded so that their sum equals that of the exact lengths; such a slice may begin or
 * end 1 ns off. The exact length in ps is an argument of the slice. */
#ifndef VP_EXPORT_ADDED_H
#define VP_EXPORT_ADDED_H

#include "trace/base/buf.h"
#include "trace/export/shared/pick.h"
#include "trace/model/derived.h"

typedef struct ex_added {
    /* Makes the tracks; *out NULL: none. They live as long as the ex_added. */
    int (*make)(void *ctx, const derived **out);
    void *ctx;
    /* The writers' own. */
    const derived *tracks;
    bool made, begun, told;
    int64_t shift_ns; /* offset from times of the file to exported times */
    uint32_t *pids;   /* pids of the file, ascending */
    size_t pid_count;
    uint32_t *group_pid;       /* of each group */
    size_t track, slice;       /* the next */
    size_t group_track;        /* index of the first slice of the current group */
    int64_t exact_ps, told_ns; /* of the current track: sum of lengths so far, before and after
                                * rounding */
    int64_t last_end_ns;
    uint32_t *named; /* by text of the tracks: the sequence that has interned it */
    const ex_pick *pick;
} ex_added;

/* Makes the tracks, once; exporters that need them before the file's last event call it first. */
int ex_added_make(ex_added *a);
/* Makes the tracks if they are not made yet. pids: the processes of the file, copied. 1: there are
 * tracks to write; 0: none, or the pick counts slices. */
int ex_added_begin(ex_added *a, const ex_pick *pick, const uint32_t *pids, size_t pid_count,
                   int64_t shift_ns);
void ex_added_free(ex_added *a);

/* An exported slice. */
typedef struct ex_added_slice {
    const derived_slice *from;
    int64_t start_ns, end_ns;
} ex_added_slice;
/* Returns the next slice of the current track; 0: no more, and the next track becomes the current
 * one. Slices outside of the pick's window are skipped. */
int ex_added_next(ex_added *a, ex_added_slice *out);
static inline bool ex_added_first_of_group(const ex_added *a)
{
    return a->track == a->group_track;
}

/* Appends events of Trace Event JSON until the buffer is full. 1: there are more; 0: done. *any:
 * whether an event precedes. */
int ex_added_json(ex_added *a, vp_buf *out, bool *any);

#endif
