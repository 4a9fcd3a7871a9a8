/* flop_stats.json: tokens and operations a second of the steps of one capture, with the keys that
 * training scripts read. The first captured step pays for starting the recording: it is told apart
 * (cold) and in no sum. Files of this room include this header; the caller owns the struct, all
 * zero at first, and frees it. */
#ifndef VP_CAPTURE_FLOP_STATS_H
#define VP_CAPTURE_FLOP_STATS_H

#include "include/view_profile_capture.h"
#include "trace/base/buf.h"

/* Steps that are listed one by one; the sums hold all. */
#define FLOP_STATS_LISTED 65536u

typedef struct flop_step {
    uint64_t tokens, ns;
} flop_step;

typedef struct flop_stats {
    bool has_cold;
    flop_step cold;
    flop_step *steps; /* the first FLOP_STATS_LISTED warm ones */
    size_t listed, cap;
    uint64_t count, tokens, ns; /* of all warm ones */
} flop_stats;

void flop_stats_reset(flop_stats *f); /* for the next capture */
void flop_stats_free(flop_stats *f);
/* A step that there is no memory to list is in the sums. */
void flop_stats_add(flop_stats *f, uint64_t tokens, uint64_t ns);
/* What is unknown is null. */
int flop_stats_put(vp_buf *b, const flop_stats *f, const vp_schedule *s);
/* Into <dir>/flop_stats.json, which appears whole or stays as it was. */
int flop_stats_write(const flop_stats *f, const vp_schedule *s, const char *dir);

#endif
