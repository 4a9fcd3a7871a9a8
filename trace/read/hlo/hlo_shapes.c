/* Reads the shapes of a proto. Elements of tuples are read level by level, so that those of one
 * tuple are adjacent, and without recursion. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/hlo/hlo_reader.h"
#include "trace/read/semantics/hlo_fields.h"
#include "trace/read/semantics/hlo_types.h"

static int hlo_add_shape(hlo_reader *r, vp_str bytes)
{
    size_t n = r->p->shape_count + 1;
    VP_TRY(HLO_GROW(r, shapes, shape));
    VP_TRY(vp_grow(&r->shape_bytes, &r->shape_bytes_cap, n, sizeof bytes, VP_HLO_INSTRUCTIONS_MAX));
    r->p->shapes[n - 1] = (hlo_shape){.layout = HLO_NONE};
    r->shape_bytes[n - 1] = bytes;
    r->p->shape_count = n;
    return 0;
}

static int hlo_add_tile(hlo_reader *r, vp_str tile)
{
    hlo_span dims;
    size_t head = r->p->number_count;
    VP_TRY(hlo_put_number(r, 0));
    VP_TRY(hlo_take_numbers(r, tile, TILE_DIMENSIONS, &dims));
    r->p->numbers[head] = dims.count;
    return 0;
}

typedef struct layout_row {
    int64_t bits, space, tail;
} layout_row;

/* True if minor_to_major is a permutation of the dimensions. */
static bool is_dimension_order(const int64_t *v, uint32_t n)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (v[i] < 0 || v[i] >= n || seen >> v[i] & 1)
            return false;
        seen |= UINT64_C(1) << v[i];
    }
    return true;
}

static int read_layout(hlo_reader *r, uint32_t shape, vp_str bytes)
{
    static const hlo_field fields[] = {
        {LAYOUT_ELEMENT_SIZE_IN_BITS, HLO_AS_NUMBER, offsetof(layout_row, bits)},
        {LAYOUT_MEMORY_SPACE, HLO_AS_NUMBER, offsetof(layout_row, space)},
        {LAYOUT_TAIL_PADDING_ALIGNMENT_IN_ELEMENTS, HLO_AS_NUMBER, offsetof(layout_row, tail)},
        {0}};
    layout_row row = {0};
    hlo_span order;
    size_t before;
    VP_TRY(hlo_take(&row, bytes, fields, "a layout"));
    VP_TRY(hlo_take_numbers(r, bytes, LAYOUT_MINOR_TO_MAJOR, &order));
    uint32_t first_tile = (uint32_t)r->p->number_count;
    VP_TRY(hlo_each(r, bytes, LAYOUT_TILES, hlo_add_tile));
    hlo_shape *s = &r->p->shapes[shape];
    if (order.count == s->rank && is_dimension_order(r->p->numbers + order.first, order.count))
        s->layout = order.first;
    s->tiles = first_tile;
    for (before = first_tile; before < r->p->number_count; s->tile_count++)
        before += 1 + (size_t)r->p->numbers[before];
    s->memory_space = row.space >= 0 && row.space < UINT8_MAX ? (uint8_t)row.space : UINT8_MAX;
    s->tail = row.tail;
    s->bits_said = row.bits > 0 && row.bits <= 1024;
    if (s->bits_said)
        s->element_bits = (int32_t)row.bits;
    return 0;
}

/* True if a value of a repeated bool field, packed or not, is true. */
static bool any_true(const vp_pb_field *f)
{
    return f->wire == VP_PB_LEN ? f->data.n && memchr(f->data.p, 1, f->data.n) : f->u != 0;
}

typedef struct shape_row {
    uint64_t type;
    vp_str layout;
} shape_row;

/* Reads a shape; its elements are appended to all shapes so far. */
static int read_level(hlo_reader *r, uint32_t shape)
{
    static const hlo_field fields[] = {
        {SHAPE_ELEMENT_TYPE, HLO_AS_NUMBER, offsetof(shape_row, type)},
        {SHAPE_LAYOUT, HLO_AS_TEXT, offsetof(shape_row, layout)},
        {0}};
    vp_str bytes = r->shape_bytes[shape];
    hlo_span dims, leaves = {(uint32_t)r->p->shape_count, 0};
    shape_row row = {0};
    vp_pb in = vp_pb_of(bytes);
    vp_pb_field f;
    bool dynamic = false;
    VP_TRY(hlo_take(&row, bytes, fields, "a shape"));
    VP_TRY(hlo_each(r, bytes, SHAPE_TUPLE_SHAPES, hlo_add_shape));
    leaves.count = (uint32_t)r->p->shape_count - leaves.first;
    VP_TRY(hlo_take_numbers(r, bytes, SHAPE_DIMENSIONS, &dims));
    if (dims.count > VP_HLO_RANK_MAX)
        return vp_fail(VP_ECORRUPT, "damaged HLO proto: a shape of %u dimensions", dims.count);
    while (vp_pb_next(&in, &f) > 0)
        dynamic = dynamic || (f.number == SHAPE_IS_DYNAMIC_DIMENSION && any_true(&f));
    hlo_shape *s = &r->p->shapes[shape];
    int bits = hlo_type_bits(row.type <= INT32_MAX ? (int64_t)row.type : 0);
    s->type = row.type <= UINT16_MAX ? (uint16_t)row.type : 0;
    s->element_bits = bits && bits < 8 ? 8 : bits;
    s->rank = (uint8_t)dims.count;
    s->dims = dims.first;
    s->dynamic = dynamic;
    s->leaves = leaves.first;
    s->leaf_count = leaves.count;
    return row.layout.p ? read_layout(r, shape, row.layout) : 0;
}

int hlo_read_shape(hlo_reader *r, vp_str proto, uint32_t *shape)
{
    *shape = (uint32_t)r->p->shape_count;
    VP_TRY(hlo_add_shape(r, proto));
    for (size_t i = *shape; i < r->p->shape_count; i++)
        VP_TRY(read_level(r, (uint32_t)i));
    return 0;
}
