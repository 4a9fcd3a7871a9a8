/* Open slices of a sequence, ordered by their end: a .pftrace stores an end at its place in time.
 * The creator frees the queue. */
#ifndef VP_EXPORT_PFTRACE_PFT_ENDS_H
#define VP_EXPORT_PFTRACE_PFT_ENDS_H

#include "trace/export/pftrace/pft_writer.h"

typedef struct pft_end {
    int64_t at_ns;
    uint64_t track;
} pft_end;

/* Zero-initialize. Slices usually nest: a slice that ends before all open ones is on a stack,
 * others in a heap. */
typedef struct pft_ends {
    pft_end *heap; /* the next end first */
    size_t count, cap;
    pft_end *stack; /* the next end last */
    size_t depth, stack_cap;
} pft_ends;

int pft_ends_add(pft_ends *e, int64_t at_ns, uint64_t track);
/* Writes all ends up to and including at_ns. */
int pft_ends_until(pft_ends *e, pft_writer *w, int64_t at_ns);
void pft_ends_free(pft_ends *e);

/* Tracks with one name for slices that may overlap: each holds one at a time. Zero-initialize. */
typedef struct pft_pool {
    pft_end *heap; /* by the time from which a track is free */
    size_t count, cap;
} pft_pool;

/* Returns a track that is free at start_ns and reserves it until end_ns; *fresh: a new one was
 * made, with the number `next`. */
int pft_pool_take(pft_pool *p, int64_t start_ns, int64_t end_ns, uint64_t next, uint64_t *track,
                  bool *fresh);
void pft_pool_free(pft_pool *p);

#endif
