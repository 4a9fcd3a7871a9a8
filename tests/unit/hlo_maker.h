/* HLO protos by hand: messages in messages, written with pb.h. A message lives in a buffer that the
 * test frees. Tests only. */
#ifndef VP_TESTS_UNIT_HLO_MAKER_H
#define VP_TESTS_UNIT_HLO_MAKER_H

#include "trace/base/pb.h"

/* Adds a message to another one and frees it. */
static inline void hm_into(vp_buf *to, uint32_t field, vp_buf *message)
{
    vp_pb_put_len(to, field, vp_buf_view(message));
    vp_buf_free(message);
}

static inline vp_buf hm_message(void)
{
    vp_buf b;
    vp_buf_init(&b, 1u << 30);
    return b;
}

static inline void hm_text(vp_buf *b, uint32_t field, const char *text)
{
    vp_pb_put_len(b, field, vp_str_of(text));
}

/* Numbers of a repeated field, packed. */
static inline void hm_numbers(vp_buf *b, uint32_t field, const int64_t *v, size_t n)
{
    vp_buf p = hm_message();
    for (size_t i = 0; i < n; i++)
        vp_pb_put_varint(&p, (uint64_t)v[i]);
    hm_into(b, field, &p);
}

typedef struct hm_array {
    int type, rank;
    int64_t dims[4], order[4]; /* order: minor to major */
    int tiles;
    struct {
        int rank;
        int64_t v[4];
    } tile[3];
    int bits, space, tail;
} hm_array;

/* A ShapeProto. */
static inline vp_buf hm_shape(const hm_array *a)
{
    vp_buf b = hm_message(), layout = hm_message();
    vp_pb_put_u64(&b, 2, (uint64_t)a->type);
    hm_numbers(&b, 3, a->dims, (size_t)a->rank);
    hm_numbers(&layout, 1, a->order, (size_t)a->rank);
    for (int i = 0; i < a->tiles; i++) {
        vp_buf t = hm_message();
        hm_numbers(&t, 1, a->tile[i].v, (size_t)a->tile[i].rank);
        hm_into(&layout, 6, &t);
    }
    vp_pb_put_u64(&layout, 7, (uint64_t)a->bits);
    vp_pb_put_u64(&layout, 8, (uint64_t)a->space);
    vp_pb_put_u64(&layout, 16, (uint64_t)a->tail);
    hm_into(&b, 5, &layout);
    return b;
}

typedef struct hm_instr {
    const char *name, *opcode, *op_name, *file;
    int line;
    int64_t id, parameter; /* for opcode "parameter": its number */
    int64_t operands[4], operand_count;
    vp_buf shape; /* freed when it is added */
} hm_instr;

static inline void hm_put_instr(vp_buf *computation, hm_instr *in)
{
    vp_buf b = hm_message(), meta = hm_message();
    hm_text(&b, 1, in->name);
    hm_text(&b, 2, in->opcode);
    hm_into(&b, 3, &in->shape);
    if (in->op_name)
        hm_text(&meta, 2, in->op_name);
    if (in->file) {
        hm_text(&meta, 3, in->file);
        vp_pb_put_u64(&meta, 4, (uint64_t)in->line);
    }
    hm_into(&b, 7, &meta);
    vp_pb_put_u64(&b, 9, (uint64_t)in->parameter);
    vp_pb_put_u64(&b, 35, (uint64_t)in->id);
    hm_numbers(&b, 36, in->operands, (size_t)in->operand_count);
    hm_into(computation, 2, &b);
}

static inline void hm_put_buffer(vp_buf *assignment, int64_t id, int64_t size, int64_t instr,
                                 int64_t color)
{
    vp_buf b = hm_message(), at = hm_message();
    vp_pb_put_u64(&b, 1, (uint64_t)id);
    vp_pb_put_u64(&b, 2, (uint64_t)size);
    vp_pb_put_u64(&at, 4, (uint64_t)instr);
    hm_into(&b, 3, &at);
    vp_pb_put_u64(&b, 4, (uint64_t)color);
    hm_into(assignment, 1, &b);
}

typedef struct hm_allocation {
    int64_t index, size, color, parameter; /* parameter: its number, or -1 */
    bool live_out, on_stack, constant;
    int64_t buffers[8], buffer_count; /* ids */
} hm_allocation;

static inline void hm_put_allocation(vp_buf *assignment, const hm_allocation *a)
{
    vp_buf b = hm_message();
    vp_pb_put_u64(&b, 1, (uint64_t)a->index);
    vp_pb_put_u64(&b, 2, (uint64_t)a->size);
    vp_pb_put_u64(&b, 3, a->on_stack);
    vp_pb_put_u64(&b, 5, a->parameter >= 0);
    vp_pb_put_u64(&b, 6, a->parameter >= 0 ? (uint64_t)a->parameter : 0);
    vp_pb_put_u64(&b, 7, a->live_out);
    vp_pb_put_u64(&b, 8, (uint64_t)a->color);
    for (int64_t i = 0; i < a->buffer_count; i++) {
        vp_buf s = hm_message();
        vp_pb_put_u64(&s, 1, (uint64_t)a->buffers[i]);
        hm_into(&b, 9, &s);
    }
    vp_pb_put_u64(&b, 12, a->constant);
    hm_into(assignment, 3, &b);
}

static inline void hm_put_event(vp_buf *trace, int kind, int64_t buffer, const char *instruction,
                                int64_t canonical)
{
    vp_buf b = hm_message();
    vp_pb_put_u64(&b, 1, (uint64_t)kind);
    vp_pb_put_u64(&b, 2, (uint64_t)buffer);
    hm_text(&b, 4, instruction);
    vp_pb_put_u64(&b, 5, (uint64_t)canonical);
    hm_into(trace, 1, &b);
}

/* One computation of id 1, its root, and a schedule of its instructions, as a whole HloProto. */
static inline vp_buf hm_proto(const char *name, vp_buf *computation, int64_t root,
                              const int64_t *order, size_t order_count, vp_buf *assignment)
{
    vp_buf b = hm_message(), module = hm_message(), schedule = hm_message(), entry = hm_message(),
           sequence = hm_message();
    hm_text(&module, 1, name);
    vp_pb_put_u64(computation, 5, 1);
    vp_pb_put_u64(computation, 6, (uint64_t)root);
    hm_into(&module, 3, computation);
    vp_pb_put_u64(&module, 6, 1);
    hm_numbers(&sequence, 1, order, order_count);
    vp_pb_put_u64(&entry, 1, 1);
    hm_into(&entry, 2, &sequence);
    hm_into(&schedule, 1, &entry);
    hm_into(&module, 7, &schedule);
    hm_into(&b, 1, &module);
    hm_into(&b, 3, assignment);
    return b;
}

#endif
