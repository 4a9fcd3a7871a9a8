/* Shows work of an example as ops of a device: the scope of OP("name", flops) becomes a span on the
 * device's stream, next to the zones of the thread. */
#ifndef EXAMPLES_OPS_H
#define EXAMPLES_OPS_H

#include <stdint.h>

#include <view_profile_capture.h>

typedef struct op_scope {
    vp_track_id track;
    uint32_t name;
    uint64_t start;
    double flops;
} op_scope;

/* id: cache for the number of the name, 0 at first. */
static inline op_scope op_begin(vp_track_id track, uint32_t *id, const char *name, double flops)
{
    if (!*id)
        *id = vp_name(name);
    return (op_scope){track, *id, vp_now(), flops};
}

static inline void op_end(op_scope *op)
{
    vp_arg flops = {.key = "flops", .type = VP_ARG_I64, .v.i = (int64_t)op->flops};
    vp_record_span(op->track, op->name, op->start, vp_now(), 0, &flops, op->flops > 0);
}

/* Ends with the enclosing scope. */
#define OP_SCOPE op_scope op_ __attribute__((cleanup(op_end), unused))
#define OP(track, text, flops)                                                                     \
    static uint32_t op_name_;                                                                      \
    OP_SCOPE = op_begin((track), &op_name_, (text), (flops))

#endif
