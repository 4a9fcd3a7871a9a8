/* HLO protos (xla/service/hlo.proto) as dictionaries: instruction name → framework path, opcode,
 * source line. They lie in /host:metadata and name the ops whose events carry only `hlo_op`
 * (docs/reference/jax-cpu.md#hlo-protos-of-ops). A module is parsed when its first op is met.
 * Readers include this.
 *
 * There are two readers of HLO protos. This one is on the way of every event, `top` included: of
 * each instruction it keeps slices of what names it, and makes the rest for those that ran.
 * trace/read/hlo, which reports and the page of an op ask, makes a structure of all instructions:
 * shapes, operands, schedules and buffers, which names need not wait for. What both know of the
 * format is hlo_fields.h. */
#ifndef VP_READ_HLO_H
#define VP_READ_HLO_H

#include "trace/base/arena.h"
#include "trace/base/str.h"

typedef struct hlo_instruction {
    vp_str op_name;     /* scope: "jit(f)/block/dot_general"; a fusion may have its computation's */
    vp_str opcode;      /* "fusion", "dot", "all-reduce", … */
    vp_str source;      /* "file.py:12", or empty */
    vp_str shape;       /* "f32[128,64]", a tuple "(f32[8],s32[])", or empty */
    int64_t group_size; /* of a collective, from its first replica group; -1 unknown */
    vp_str groups;      /* its groups, as replica_groups.h reads them, or empty */
    vp_str program;     /* the devices of the module, if it has groups; see replica_groups.h */
} hlo_instruction;

typedef struct hlo_module hlo_module;
/* Parses a serialized xla.HloProto; the bytes must outlive the module. VP_ECORRUPT on damage. */
int hlo_module_parse(hlo_module **out, vp_str proto);
void hlo_module_free(hlo_module *m);
vp_str hlo_module_name(const hlo_module *m);
/* 1: found; 0: there is no instruction of that name; VP_ENOMEM. The slices live as long as the
 * module (texts that the proto does not hold as such are made in its arena). */
int hlo_module_find(hlo_module *m, vp_str instruction, hlo_instruction *out);

/* The instruction that a stat hlo_op names: the last part of "a::b::c". */
static inline vp_str hlo_innermost(vp_str hlo_op)
{
    for (size_t i = hlo_op.n; i >= 2; i--)
        if (hlo_op.p[i - 1] == ':' && hlo_op.p[i - 2] == ':')
            return vp_str_skip(hlo_op, i);
    return hlo_op;
}

#endif
