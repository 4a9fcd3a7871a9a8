/* One xla.HloProto decoded into computations, instructions, shapes and the buffer assignment, which
 * is the compiler's memory plan. Field numbers and their meaning:
 * docs/reference/memory-and-mfu.md#buffer-assignment. Analyses of memory and of FLOP use it. While
 * events are read, names of ops come from trace/read/semantics/hlo.h instead, which explains why
 * there are two readers.
 *
 * All slices point into the proto's bytes, which must outlive the program; the program owns the
 * arrays. A reference to something that does not exist (an operand, a buffer, a computation) is
 * HLO_NONE and counted in `loose`; a proto with a damaged wire format is refused. Other values are
 * unchecked: sizes may be negative, operands may form cycles. */
#ifndef VP_READ_HLO_PROGRAM_H
#define VP_READ_HLO_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/map.h"
#include "trace/base/str.h"

#define HLO_NONE UINT32_MAX

/* An array, or a tuple whose elements are adjacent in the program's `shapes`. */
typedef struct hlo_shape {
    uint16_t type; /* hlo_types.h */
    uint8_t rank, memory_space;
    bool dynamic, bits_said; /* bits_said: the layout states the bits of an element */
    int32_t element_bits;    /* from the layout, else of the type, then at least a byte */
    uint32_t dims;           /* index of the first of `rank` dimensions in numbers */
    uint32_t layout;         /* index in numbers of minor_to_major, with rank items; HLO_NONE */
    /* Index in numbers: the first tile's rank and dimensions, then the next tile. */
    uint32_t tiles, tile_count;
    uint32_t leaves, leaf_count; /* index in shapes of the direct elements of a tuple */
    int64_t tail; /* the number of elements is rounded up to a multiple of this; 0: not rounded */
} hlo_shape;

typedef struct hlo_instr {
    vp_str name, opcode, op_name, custom_call_target;
    vp_str backend_config;  /* raw bytes (JSON) */
    vp_str source_file;     /* of the instruction, else of its innermost stack frame, or empty */
    vp_str source_function; /* of that stack frame, "train.<locals>.loss", or empty */
    int32_t source_line;    /* 0: unknown */
    uint32_t computation;   /* index */
    uint32_t shape;         /* index; HLO_NONE */
    uint32_t operands, operand_count; /* instruction indices, from this index in links */
    uint32_t called, called_count;    /* computation indices, from this index in links */
    int64_t id;
    /* -1 unless stated; 0 for a parameter or get-tuple-element if not stated */
    int64_t parameter_number, tuple_index;
    vp_str raw; /* the InstructionProto, from which windows, dimension numbers and precision are
                   read */
} hlo_instr;

typedef struct hlo_computation {
    vp_str name;
    int64_t id;
    uint32_t first, count;       /* its instructions; operands precede users */
    uint32_t root;               /* instruction index; HLO_NONE */
    uint32_t order, order_count; /* instruction indices, from this index in links, in the order of
                                    execution; none without a schedule */
    bool fusion;
} hlo_computation;

/* A value at an instruction and a position in its shape. Buffers with disjoint lifetimes may share
 * memory. Sizes are bytes with padding. */
typedef struct hlo_buffer {
    int64_t id, size, color;
    uint32_t instr, shape;       /* where it is defined; HLO_NONE */
    uint32_t index, index_count; /* position in the instruction's shape, in numbers */
    uint32_t allocation;         /* index; HLO_NONE: in no allocation */
} hlo_buffer;

/* A block of memory, and its buffers. */
typedef struct hlo_allocation {
    int64_t index, size, color, parameter_number;
    uint32_t place, place_count;       /* of the parameter: its shape index, in numbers */
    uint32_t assigned, assigned_count; /* index in `assigned` */
    bool is_parameter, live_out, on_stack, is_constant, is_tuple, aliased;
} hlo_allocation;

typedef struct hlo_assigned {
    uint32_t buffer; /* index; HLO_NONE */
    int64_t offset, size;
} hlo_assigned;

enum { HLO_HEAP_ALLOC, HLO_HEAP_FREE, HLO_HEAP_SHARE };

/* Events of the compiler's heap simulator, in program order. */
typedef struct hlo_heap_event {
    vp_str instruction;
    uint32_t buffer, canonical; /* indices; HLO_NONE. canonical: shares its memory */
    int64_t kind;
} hlo_heap_event;

typedef struct hlo_heap_trace {
    uint32_t first, count;
} hlo_heap_trace;

/* A parameter whose memory an output uses (output is true) or may use. Positions are shape indices
 * in numbers. */
typedef struct hlo_alias {
    int64_t parameter_number;
    uint32_t place, place_count, output_place, output_place_count;
    bool output;
} hlo_alias;

/* The buffers that the compiler considers live at the peak of an allocation: indices in links. */
typedef struct hlo_peak {
    int64_t allocation_index;
    uint32_t buffers, count;
} hlo_peak;

typedef struct hlo_program {
    vp_str name;
    int64_t id;
    uint32_t entry; /* computation index; HLO_NONE */
    hlo_instr *instrs;
    hlo_computation *computations;
    hlo_shape *shapes;
    int64_t *numbers;
    uint32_t *links;
    bool assigned_memory; /* it has a buffer assignment; else the arrays below are empty */
    bool plan_refused;    /* the buffer assignment is damaged or exceeds a limit and was dropped;
                             vp_error_last has the reason directly after the parse */
    hlo_buffer *buffers;
    hlo_allocation *allocations;
    hlo_assigned *assigned;
    hlo_heap_event *events;
    hlo_heap_trace *traces;
    hlo_alias *aliases;
    hlo_peak *peaks;
    size_t instr_count, computation_count, shape_count, number_count, link_count;
    size_t buffer_count, allocation_count, assigned_count, event_count, trace_count, alias_count,
        peak_count;
    uint64_t loose;        /* references to missing objects */
    vp_map by_id, by_name; /* id, or hash of the name → instruction */
} hlo_program;

/* VP_ECORRUPT: the module is damaged, with the place; VP_ELIMIT: exceeds limits.h; VP_ENOMEM. Free
 * with hlo_program_free. */
int hlo_program_parse(hlo_program **out, vp_str proto);
void hlo_program_free(hlo_program *p);
/* The instruction with this name, or HLO_NONE. */
uint32_t hlo_program_find(const hlo_program *p, vp_str instruction);

static inline bool hlo_has_opcode(const hlo_instr *in, const char *opcode)
{
    return vp_str_eq(in->opcode, vp_str_of(opcode));
}
/* opcodes ends with NULL. */
static inline bool hlo_has_any_opcode(const hlo_instr *in, const char *const *opcodes)
{
    for (; *opcodes; opcodes++)
        if (hlo_has_opcode(in, *opcodes))
            return true;
    return false;
}
/* The instruction of operand i; NULL: there is none. */
static inline const hlo_instr *hlo_operand(const hlo_program *p, const hlo_instr *in, uint32_t i)
{
    uint32_t at = i < in->operand_count ? p->links[in->operands + i] : HLO_NONE;
    return at == HLO_NONE ? NULL : &p->instrs[at];
}

#endif
