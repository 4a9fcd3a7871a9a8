/* HLO protos (xla/service/hlo.proto) as dictionaries: instruction name → scope, opcode, source
 * line. They are in the plane /host:metadata and name ops whose events carry only `hlo_op`
 * (docs/reference/jax-cpu.md#hlo-protos-of-ops). A module is parsed when its first op occurs. The
 * caller owns the proto's bytes and frees the module.
 *
 * There are two readers of HLO protos. This one is in the path of every event: it stores slices of
 * what names an instruction, and makes texts only for instructions that ran. trace/read/hlo serves
 * reports and the page of an op; it builds a structure of all instructions with shapes, operands,
 * schedules and buffers. hlo_fields.h holds what they share. */
#ifndef VP_READ_HLO_H
#define VP_READ_HLO_H

#include "trace/base/arena.h"
#include "trace/base/str.h"

typedef struct hlo_instruction {
    vp_str op_name;     /* "jit(f)/block/dot_general"; a fusion may use its computation's; an
                           instruction that the compiler made has that of its first user */
    vp_str opcode;      /* "fusion", "dot", "all-reduce", … */
    vp_str source;      /* "file.py:12", or empty */
    vp_str shape;       /* "f32[128,64]", a tuple "(f32[8],s32[])", or empty */
    int64_t group_size; /* ranks of a collective, from its first replica group; -1: unknown */
    vp_str groups;      /* replica groups in the form of replica_groups.h, or empty */
    vp_str program;     /* devices of the module, if `groups` is set; see replica_groups.h */
} hlo_instruction;

typedef struct hlo_module hlo_module;
/* Parses a serialized xla.HloProto; the bytes must outlive the module. VP_ECORRUPT: damaged;
 * VP_ENOMEM. */
int hlo_module_parse(hlo_module **out, vp_str proto);
void hlo_module_free(hlo_module *m);
vp_str hlo_module_name(const hlo_module *m);
/* 1: found; 0: no instruction with this name; VP_ENOMEM. The slices live as long as the module,
 * which owns texts that the proto does not contain. */
int hlo_module_find(hlo_module *m, vp_str instruction, hlo_instruction *out);

/* Calls `each` for the path of each source file in the stack frames of a serialized xla.HloProto:
 * those of the traced functions and of their callers. Damaged parts are skipped. Returns the first
 * negative result of `each`. */
int hlo_each_source_file(vp_str proto, int (*each)(void *ctx, vp_str path), void *ctx);

/* The instruction named by the stat hlo_op: the last part of "a::b::c". */
static inline vp_str hlo_innermost(vp_str hlo_op)
{
    for (size_t i = hlo_op.n; i >= 2; i--)
        if (hlo_op.p[i - 1] == ':' && hlo_op.p[i - 2] == ':')
            return vp_str_skip(hlo_op, i);
    return hlo_op;
}

#endif
