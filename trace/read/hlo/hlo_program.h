/* One xla.HloProto as computations, instructions, shapes and its buffer assignment: what the
 * compiler planned. Field numbers and what the pieces mean:
 * docs/reference/memory-and-mfu.md#buffer-assignment. Analyses of memory and of FLOPs include this.
 * Names of ops, while events are read, come from trace/read/semantics/hlo.h, which says why there
 * are two.
 *
 * All slices lie in the proto's bytes, which must outlive the program; it owns the arrays. What
 * names something that is not there (an operand, a buffer, a computation) is HLO_NONE and counted
 * in `loose`; a proto whose wire is damaged is refused. Nothing in it may be believed further:
 * sizes may be negative, operands may form circles. */
#ifndef VP_READ_HLO_PROGRAM_H
#define VP_READ_HLO_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/map.h"
#include "trace/base/str.h"

#define HLO_NONE UINT32_MAX

/* One array, or a tuple, whose elements lie side by side in the program's `shapes`. */
typedef struct hlo_shape {
    uint16_t type; /* hlo_types.h */
    uint8_t rank, memory_space;
    bool dynamic, bits_said;     /* the layout says the bits of an element */
    int32_t element_bits;        /* from the layout, else of the type, then a whole byte at least */
    uint32_t dims;               /* index of the first of `rank` dimensions in numbers */
    uint32_t layout;             /* index of minor_to_major in numbers, rank of them; HLO_NONE */
    uint32_t tiles, tile_count;  /* index in numbers of the first tile: its rank, its dimensions,
                                    the next one */
    uint32_t leaves, leaf_count; /* direct elements of a tuple: index in shapes */
    int64_t tail;                /* the number of elements is rounded up to a multiple; 0: is not */
} hlo_shape;

typedef struct hlo_instr {
    vp_str name, opcode, op_name, custom_call_target;
    vp_str backend_config;            /* raw bytes (JSON) */
    vp_str source_file;               /* of itself, else of its innermost stack frame; or empty */
    int32_t source_line;              /* 0: unknown */
    uint32_t computation;             /* index */
    uint32_t shape;                   /* index; HLO_NONE */
    uint32_t operands, operand_count; /* instruction indices in links */
    uint32_t called, called_count;    /* computation indices in links */
    int64_t id;
    int64_t parameter_number, tuple_index; /* -1 unless said; of a parameter and of a
                                              get-tuple-element 0 where nothing is said */
    vp_str
        raw; /* the InstructionProto: windows, dimension numbers and precision are read from it */
} hlo_instr;

typedef struct hlo_computation {
    vp_str name;
    int64_t id;
    uint32_t first, count;       /* its instructions, operands before users */
    uint32_t root;               /* instruction index; HLO_NONE */
    uint32_t order, order_count; /* instruction indices in links: as they run; none without a
                                    schedule */
    bool fusion;
} hlo_computation;

/* A value at an instruction and a place in its shape. Several share memory when their lives are
 * apart. Sizes are bytes with padding. */
typedef struct hlo_buffer {
    int64_t id, size, color;
    uint32_t instr, shape;       /* where it is defined; HLO_NONE */
    uint32_t index, index_count; /* the place in the instruction's shape, in numbers */
    uint32_t allocation;         /* index; HLO_NONE: none has it */
} hlo_buffer;

/* A block of memory, and the buffers in it. */
typedef struct hlo_allocation {
    int64_t index, size, color, parameter_number;
    uint32_t place, place_count;       /* of the parameter: shape index, in numbers */
    uint32_t assigned, assigned_count; /* index in `assigned` */
    bool is_parameter, live_out, on_stack, is_constant, is_tuple, aliased;
} hlo_allocation;

typedef struct hlo_assigned {
    uint32_t buffer; /* index; HLO_NONE */
    int64_t offset, size;
} hlo_assigned;

enum { HLO_HEAP_ALLOC, HLO_HEAP_FREE, HLO_HEAP_SHARE };

/* What the compiler's simulator of the heap did, in program order. */
typedef struct hlo_heap_event {
    vp_str instruction;
    uint32_t buffer, canonical; /* indices; HLO_NONE. canonical: whose memory is shared */
    int64_t kind;
} hlo_heap_event;

typedef struct hlo_heap_trace {
    uint32_t first, count;
} hlo_heap_trace;

/* A parameter whose memory an output takes (output true), or may take. Places are shape indices in
 * numbers. */
typedef struct hlo_alias {
    int64_t parameter_number;
    uint32_t place, place_count, output_place, output_place_count;
    bool output;
} hlo_alias;

/* The buffers that the compiler holds to be the peak of an allocation: indices in links. */
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
    bool assigned_memory; /* it has a buffer assignment; what follows is empty without */
    bool plan_refused;    /* that is damaged or beyond a limit, as vp_error_last says right after
                             the parse, and left out */
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
    uint64_t loose;        /* references that lead nowhere */
    vp_map by_id, by_name; /* id, hash of the name → instruction */
} hlo_program;

/* VP_ECORRUPT: its module is damaged, and where; VP_ELIMIT: more than limits.h allows; VP_ENOMEM.
 */
int hlo_program_parse(hlo_program **out, vp_str proto);
void hlo_program_free(hlo_program *p);
/* The instruction of that name, or HLO_NONE. */
uint32_t hlo_program_find(const hlo_program *p, vp_str instruction);

#endif
