/* What the beginning and the end of a Trace Event JSON file state about the rank that wrote it
 * (docs/reference/ranks.md#stated-ranks). Pure functions; nothing is allocated and nothing fails:
 * what is missing, contradictory or cut off is unknown. */
#ifndef VP_READ_RANK_INFO_H
#define VP_READ_RANK_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

typedef struct rd_rank {
    bool has_rank;
    bool unusable;    /* a distributedInfo exists, but its rank or world size cannot be right */
    uint32_t rank;    /* below world if that is known */
    uint32_t world;   /* number of ranks of the job; 0: unknown */
    uint32_t backend; /* fingerprint of its name; 0: unknown */
    /* Unix times of the first and the last of the events that were seen; 0: unknown. */
    int64_t first_ns, last_ns;
} rd_rank;

/* Bytes of the beginning and of the end that suffice: properties of 16 devices come before
 * distributedInfo. */
#define RD_RANK_HEAD 16384u
#define RD_RANK_TAIL 4096u

/* head: the first bytes of the document. tail: the last ones, empty if head is all of it. */
void rd_rank_of(rd_rank *out, vp_str head, vp_str tail);

#endif
