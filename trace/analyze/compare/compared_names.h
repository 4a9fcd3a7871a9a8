/* Looks up the row of a comparison by the name of an event, to color events of either run by the
 * difference. The caller frees the lookup table; the comparison must outlive it. */
#ifndef VP_ANALYZE_COMPARED_NAMES_H
#define VP_ANALYZE_COMPARED_NAMES_H

#include "include/view_profile.h"
#include "trace/base/map.h"
#include "trace/base/str.h"

typedef struct compared_names {
    const vp_comparison *c;
    bool of_b, normal;
    vp_map rows;
} compared_names;

/* Builds the table from the rows of side A (B). `devices`: the report of that side has devices,
 * whose ops are grouped by names without numbers (the comparison was made with VP_GROUP_NAME).
 * VP_ENOMEM; free it even after a failure. */
int compared_names_make(compared_names *out, const vp_comparison *c, bool of_b, bool devices);
void compared_names_free(compared_names *n);
/* The index in c->ops; c->op_count: no row. If several rows have this name, the one with this
 * category, else the one with the most time. */
size_t compared_row(const compared_names *n, vp_str name, vp_str category);

#endif
