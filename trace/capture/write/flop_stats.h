/* flop_stats.json: tokens and FLOP per second of the steps of one capture, with the keys that
 * training scripts read. The first captured step includes the start of the recording: it is
 * separate ("cold") and in no sum. Private to this module. The caller owns the struct, initialized
 * to zero, and frees it. Failures: VP_EIO, VP_ENOSPC, VP_EPERM, VP_ENOMEM. */
#ifndef VP_CAPTURE_FLOP_STATS_H
#define VP_CAPTURE_FLOP_STATS_H

#include "include/view_profile_capture.h"
#include "trace/base/buf.h"

/* Steps that are listed individually; the sums include all. */
#define FLOP_STATS_LISTED 65536u

typedef struct flop_step {
    uint64_t tokens, ns;
} flop_step;

typedef struct flop_stats {
    bool has_cold;
    flop_step cold;
    flop_step *steps; /* the first FLOP_STATS_LISTED warm steps */
    size_t listed, cap;
    uint64_t count, tokens, ns; /* of all warm steps */
} flop_stats;

void flop_stats_reset(flop_stats *f); /* for the next capture */
void flop_stats_free(flop_stats *f);
/* Adds a step. If out of memory, it is only in the sums. */
void flop_stats_add(flop_stats *f, uint64_t tokens, uint64_t ns);
/* Writes JSON; unknown figures are null. */
int flop_stats_put(vp_buf *b, const flop_stats *f, const vp_schedule *s);
/* Writes <dir>/flop_stats.json, which is afterwards complete or unchanged. */
int flop_stats_write(const flop_stats *f, const vp_schedule *s, const char *dir);

#endif
