/* Call site of an allocation: the calls that were active on the allocating thread, innermost first.
 * One pass over each such thread. The caller frees the sites. */
#ifndef VP_ANALYZE_CALL_SITES_H
#define VP_ANALYZE_CALL_SITES_H

#include "trace/model/trace.h"

/* Kinds of the trace; SINK_NONE: none. */
typedef struct mem_site {
    uint32_t op;    /* the innermost call that is not a frame */
    uint32_t frame; /* the innermost Python frame outside of frameworks, else the innermost frame */
    uint32_t module; /* the innermost nn.Module */
    uint32_t tf_op;  /* the allocation's own kind, if it names an op */
} mem_site;

typedef struct mem_call {
    uint32_t track; /* of the thread */
    uint32_t kind;  /* of the allocator's event */
    int64_t at;     /* aligned */
    uint32_t site;  /* found: an index into the sites */
} mem_call;

/* Distinct sites, freed by vp_free, and the site of each call. */
int mem_sites_find(mem_site **sites, size_t *site_count, mem_call *calls, size_t n, const trace *t);

#endif
