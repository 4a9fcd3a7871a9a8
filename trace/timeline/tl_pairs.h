/* Matches the rows of two timelines: processes and tracks of one run with those of another. A pure
 * function of the two indexes; the caller frees the pairs.
 *
 * Pairs are matched in stages, most similar first, each in file order: processes by name, then
 * devices of a kind and host processes by position, then any devices; tracks of two processes by
 * role and name, then by role and name without digits (thread ids differ), then by role alone on a
 * device. */
#ifndef VP_TIMELINE_TL_PAIRS_H
#define VP_TIMELINE_TL_PAIRS_H

#include "trace/timeline/tl_index.h"

#define TL_NO_MATE UINT32_MAX

/* By index in A: the match in B, or TL_NO_MATE; and the reverse. Tracks without events have no
 * match, nor have groups with only such tracks. */
typedef struct tl_pairs {
    uint32_t *group_b, *group_a; /* matches of A's groups, of B's groups */
    uint32_t *track_b, *track_a;
} tl_pairs;

/* VP_ENOMEM; free the pairs even after a failure. */
int tl_pair(tl_pairs *out, const tl_index *a, const tl_index *b);
void tl_pairs_free(tl_pairs *p);

#endif
