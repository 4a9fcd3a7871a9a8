/* Donatable arguments (docs/reference/memory-and-mfu.md#missing-donation): undonated arguments that
 * are dead when a result of the same size, space, shape and layout is computed. Rows are in the
 * host's arena. */
#ifndef VP_ANALYZE_STATIC_DONATION_H
#define VP_ANALYZE_STATIC_DONATION_H

#include "trace/read/hlo/hlo_program.h"

typedef struct donation {
    uint32_t parameter, output;                             /* instruction indices */
    int64_t parameter_number, bytes, color, last_use, born; /* positions in the schedule */
    bool also_scratch; /* the memory of the result contained temporaries before, so less is saved */
} donation;

struct alias_set;
/* Sorted by size; the caller frees *out with vp_free. Empty without a schedule. 0 or VP_ENOMEM. */
int donations_find(donation **out, size_t *n, const hlo_program *p,
                   const struct alias_set *aliases);
/* Arguments that are or may be aliased with a result: pairs of the parameter number and the index
 * in it. */
typedef struct alias_set {
    const hlo_program *p;
    vp_map made, donors;
} alias_set;

/* 0 or VP_ENOMEM; freed by alias_set_free. */
int alias_set_make(alias_set *s, const hlo_program *p);
void alias_set_free(alias_set *s);
/* True if a parameter's allocation is shared with an output: recorded in new files, and in old ones
 * in the module's table. */
bool alias_set_has(const alias_set *s, const hlo_allocation *a);

#endif
