/* Which events are frames of the user's program, and their texts. */
#ifndef VP_ANALYZE_USER_KINDS_H
#define VP_ANALYZE_USER_KINDS_H

#include "trace/analyze/result/analysis.h"

/* A part of host_kinds: adds HK_USER to flags[kind] for frames of the user's files
 * (trace/links/user_frames.h). JAX's frames have no directories, so those count only if a file of
 * the same name is the source of a device op, or on the stack of one (docs/reference/links.md).
 * VP_ENOMEM. */
int user_kinds_mark(uint32_t *flags, const trace *t);

/* "train (train.py:20)" in the arena; *out is untouched if the kind is no frame. VP_ENOMEM. */
int user_frame_text(const char **out, host_result *h, const trace *t, uint32_t kind);

/* The user's frames that are open while the events of a thread are visited in order. */
typedef struct user_stack {
    struct user_open {
        int64_t end;
        uint32_t kind;
    } * v;
    size_t n, cap;
} user_stack;

int user_stack_open(user_stack *s, uint32_t kind, int64_t end); /* VP_ENOMEM, VP_ELIMIT */
void user_stack_close(user_stack *s, int64_t now);              /* those that ended */
/* The innermost; UINT32_MAX: none. */
static inline uint32_t user_stack_top(const user_stack *s)
{
    return s->n ? s->v[s->n - 1].kind : UINT32_MAX;
}

#endif
