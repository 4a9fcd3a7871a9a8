/* Scope with most of the time of a group of ops, and the number of its scopes. One op may represent
 * a group's name, but not its scope. The caller owns the output. */
#ifndef VP_ANALYZE_OP_PLACES_H
#define VP_ANALYZE_OP_PLACES_H

#include "trace/analyze/result/analysis.h"

typedef struct op_place {
    uint32_t kind;           /* the kind whose scope and source are shown; 0 for a group without
                              * calls */
    int64_t scopes, sources; /* number of distinct scopes, without unknown ones */
} op_place;

/* For each group: its scope with the most self time, the source with the most time in that scope,
 * and the kind with the most time of that source. Ties: the first by text. Kinds without a scope
 * count as one scope. group_of: by kind of the list, UINT32_MAX for none. out: by group, for
 * group_count groups. */
int op_places(op_place *out, uint32_t group_count, const trace *t, const uint32_t *group_of,
              const kind_list *l);

#endif
