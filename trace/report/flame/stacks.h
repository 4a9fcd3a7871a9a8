/* Op time of a report by stack: device, scopes from the outermost, and op. The creator frees the
 * stacks. */
#ifndef VP_REPORT_STACKS_H
#define VP_REPORT_STACKS_H

#include "include/view_profile.h"

#define FLAME_NO_SCOPE UINT32_MAX

typedef struct flame_stack {
    uint32_t device;
    uint32_t scope;       /* of r->scopes, FLAME_NO_SCOPE: none */
    const char *op;       /* NULL: the scope is what ran, as the zones of a host's thread are */
    vp_op_class op_class; /* of one of that name there */
    int64_t self_ps;
    int64_t ns; /* see flame_stacks_of */
} flame_stack;

/* By device, scope in pre-order, and self time; each once. The report owns the texts. */
typedef struct flame_stacks {
    const vp_report *r;
    flame_stack *v;
    size_t n;
} flame_stacks;

/* Takes a report that was made with VP_GROUP_STACK; of its devices, those whose name ends in
 * `device` (NULL: all). The ns of a device's stacks sum to its self_ps as nanoseconds, rounded half
 * up: each is rounded down, and the rest goes to those that lost most by it, the earlier of equal
 * ones first. Stacks without time are left out. VP_EEMPTY: there are none. */
int flame_stacks_of(flame_stacks *out, const vp_report *r, const char *device);
/* The same of all devices at once: stacks that differ in nothing else are one, of the first's
 * device, and have no ns. */
int flame_stacks_joined(flame_stacks *out, const vp_report *r);
void flame_stacks_free(flame_stacks *s);

/* Scopes, innermost first. All zero before the first use, and freed with vp_free(v). */
typedef struct flame_frames {
    uint32_t *v;
    size_t n, cap;
} flame_frames;

/* Fills f with the scope of a stack and those around it. */
int flame_frames_of(flame_frames *f, const flame_stacks *s, const flame_stack *k);

#endif
