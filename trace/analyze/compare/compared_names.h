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

/* Of the rows that side A (B) has. `devices`: that side's report has devices, whose ops are grouped
 * by their names without numbers (the comparison was made with VP_GROUP_NAME). VP_ENOMEM; to be
 * freed also after a failure. */
int compared_names_make(compared_names *out, const vp_comparison *c, bool of_b, bool devices);
void compared_names_free(compared_names *n);
/* The row of c->ops; c->op_count: it has none. Of rows of one name that of this category, else the
 * one that took most time. */
size_t compared_row(const compared_names *n, vp_str name, vp_str category);

#endif
