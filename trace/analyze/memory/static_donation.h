/* Donatable arguments (docs/reference/memory-and-mfu.md#missing-donation): undonated arguments that
 * are dead when a result of the same size, space, shape and layout is computed. Rows are in the
 * host's arena. */
#ifndef VP_ANALYZE_STATIC_DONATION_H
#define VP_ANALYZE_STATIC_DONATION_H

#include "trace/read/hlo/hlo_program.h"

typedef struct donation {
    uint32_t parameter, output;                             /* instruction indices */
    int64_t parameter_number, bytes, color, last_use, born; /* positions in the schedule */
    bool also_scratch; /* the result's memory held temporaries before: less is saved */
} donation;

struct alias_set;
/* Largest first; the caller frees *out with vp_free. None without a schedule. 0 or VP_ENOMEM. */
int donations_find(donation **out, size_t *n, const hlo_program *p,
                   const struct alias_set *aliases);
/* Arguments that give their memory to a result, and those that may: a number and a place in the
 * argument each. */
typedef struct alias_set {
    const hlo_program *p;
    vp_map made, donors;
} alias_set;

/* 0 or VP_ENOMEM; freed by alias_set_free. */
int alias_set_make(alias_set *s, const hlo_program *p);
void alias_set_free(alias_set *s);
/* Whether a parameter's allocation gives its memory to an output: new files say so, of old ones the
 * module's table does. */
bool alias_set_has(const alias_set *s, const hlo_allocation *a);

#endif
