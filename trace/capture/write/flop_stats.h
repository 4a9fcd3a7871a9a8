/* flop_stats.json: tokens and operations a second of the steps of one capture, with the keys that
 * training scripts read. The first captured step also pays for starting the recording: it stands
 * apart ("cold") and is in no sum. Files of this room include this header; the caller owns the
 * struct, all zero at first, and frees it. */
#ifndef VP_CAPTURE_FLOP_STATS_H
#define VP_CAPTURE_FLOP_STATS_H

#include "include/view_profile_capture.h"
#include "trace/base/buf.h"

/* How many steps are listed one by one. The sums are of all. */
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
/* Adds a step. If there is no memory to list it, it is in the sums only. */
void flop_stats_add(flop_stats *f, uint64_t tokens, uint64_t ns);
/* Figures that are unknown are null. */
int flop_stats_put(vp_buf *b, const flop_stats *f, const vp_schedule *s);
/* Writes <dir>/flop_stats.json, which then is complete, or else as it was before. */
int flop_stats_write(const flop_stats *f, const vp_schedule *s, const char *dir);

#endif
