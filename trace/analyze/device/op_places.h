/* Scope with most of the time of a group of ops, and the number of its scopes. One op may represent
 * a group's name, but not its scope. The caller owns the output. */
#ifndef VP_ANALYZE_OP_PLACES_H
#define VP_ANALYZE_OP_PLACES_H

#include "trace/analyze/result/analysis.h"

typedef struct op_place {
    uint32_t kind;           /* has the scope and source to show; 0 for a group without calls */
    int64_t scopes, sources; /* distinct ones, unknown not counted */
} op_place;

/* For each group: its scope with the most self time, of that scope's sources the one with the most,
 * and of its kinds the one with the most; of equal ones the first by text. Kinds without a scope
 * count as one scope. group_of: by kind of the list, UINT32_MAX for none. out: by group, for
 * group_count of them. */
int op_places(op_place *out, uint32_t group_count, const trace *t, const uint32_t *group_of,
              const kind_list *l);

#endif
