/* Op time of a report by stack: device, scopes from the outermost, and op. The creator frees the
 * stacks. */
#ifndef VP_REPORT_STACKS_H
#define VP_REPORT_STACKS_H

#include "include/view_profile.h"

#define FLAME_NO_SCOPE UINT32_MAX

typedef struct flame_stack {
    uint32_t device;
    uint32_t scope;       /* index into r->scopes, FLAME_NO_SCOPE: none */
    const char *op;       /* NULL: the scope itself ran, as zones of host threads do */
    vp_op_class op_class; /* index among those with the same name */
    int64_t self_ps;
    int64_t ns; /* see flame_stacks_of */
} flame_stack;

/* By device, scope in pre-order, and self time; each once. The report owns the texts. */
typedef struct flame_stacks {
    const vp_report *r;
    flame_stack *v;
    size_t n;
} flame_stacks;

/* Needs a report made with VP_GROUP_STACK; selects the devices whose name ends in `device` (NULL:
 * all). The ns of a device's stacks add up to its self_ps in ns, rounded half up (largest
 * remainder; the earlier of equal ones first). Stacks without time are left out. VP_EEMPTY: no
 * stacks. */
int flame_stacks_of(flame_stacks *out, const vp_report *r, const char *device);
/* The same for all devices together: stacks that differ only in the device are merged into that of
 * the first device, and have no ns. */
int flame_stacks_joined(flame_stacks *out, const vp_report *r);
void flame_stacks_free(flame_stacks *s);

/* Scopes, innermost first. Zero-initialize before the first use; free with vp_free(v). */
typedef struct flame_frames {
    uint32_t *v;
    size_t n, cap;
} flame_frames;

/* Fills f with the scope of a stack and the enclosing scopes. */
int flame_frames_of(flame_frames *f, const flame_stacks *s, const flame_stack *k);

#endif
