#include "trace/read/hlo/hlo_shape.h"

#include "trace/base/limits.h"
#include "trace/read/semantics/hlo_types.h"

#define COMBINE INT64_MIN /* a tile dimension that merges with the next one */

/* Multiplies *n by v; false if it overflows or v is negative. */
static bool multiply_within_int64(int64_t *n, int64_t v)
{
    return v >= 0 && !__builtin_mul_overflow(*n, v, n);
}

static int64_t bytes_of_elements(int64_t elements, int32_t bits)
{
    return multiply_within_int64(&elements, bits) && elements <= INT64_MAX - 7 ? (elements + 7) / 8
                                                                               : HLO_UNSIZED;
}

int64_t hlo_shape_elements(const hlo_program *p, uint32_t shape)
{
    const hlo_shape *s = &p->shapes[shape];
    int64_t n = s->type != HLO_TYPE_TUPLE;
    for (uint32_t i = 0; i < s->rank; i++)
        if (!multiply_within_int64(&n, p->numbers[s->dims + i]))
            return HLO_UNSIZED;
    return n;
}

int64_t hlo_shape_bytes(const hlo_program *p, uint32_t shape)
{
    const hlo_shape *s = &p->shapes[shape];
    if (s->type == HLO_TYPE_TUPLE)
        return 8 * (int64_t)s->leaf_count;
    int64_t n = hlo_shape_elements(p, shape);
    return n < 0 ? n : bytes_of_elements(n, s->element_bits);
}

#define LEAVES_MAX 4096u

int64_t hlo_shape_all_bytes(const hlo_program *p, uint32_t shape)
{
    uint32_t open[64];
    size_t n = 0, seen = 0;
    int64_t sum = 0;
    if (shape != HLO_NONE)
        open[n++] = shape;
    while (n) {
        const hlo_shape *s = &p->shapes[open[--n]];
        if (++seen > LEAVES_MAX)
            return HLO_UNSIZED;
        if (s->type != HLO_TYPE_TUPLE) {
            int64_t bytes = hlo_shape_bytes(p, (uint32_t)(s - p->shapes));
            if (bytes < 0 || __builtin_add_overflow(sum, bytes, &sum))
                return HLO_UNSIZED;
            continue;
        }
        for (uint32_t i = 0; i < s->leaf_count; i++) {
            if (n == sizeof open / sizeof *open)
                return HLO_UNSIZED;
            open[n++] = s->leaves + i;
        }
    }
    return sum;
}

/* Dimensions in memory order, the slowest first. */
typedef struct physical {
    int64_t v[2 * VP_HLO_RANK_MAX];
    uint32_t n;
} physical;

/* Replaces the last dimensions by numbers of tiles, followed by the tile's dimensions. */
static bool cut_into_tiles(physical *d, const int64_t *tile, uint32_t k)
{
    int64_t in[2 * VP_HLO_RANK_MAX], sides[2 * VP_HLO_RANK_MAX], carry = 1;
    uint32_t sides_n = 0, missing = k > d->n ? k - d->n : 0;
    if (k > VP_HLO_RANK_MAX || d->n + missing + k > 2 * VP_HLO_RANK_MAX)
        return false;
    for (uint32_t i = 0; i < k; i++)
        in[i] = i < missing ? 1 : d->v[d->n - k + i];
    d->n -= k - missing;
    for (uint32_t i = 0; i < k; i++) {
        if (!multiply_within_int64(&carry, in[i]))
            return false;
        if (tile[i] == COMBINE)
            continue;
        if (tile[i] <= 0)
            return false;
        d->v[d->n++] = carry / tile[i] + (carry % tile[i] != 0);
        sides[sides_n++] = tile[i];
        carry = 1;
    }
    memcpy(d->v + d->n, sides, sides_n * sizeof *sides);
    d->n += sides_n;
    return true;
}

int64_t hlo_shape_padded(const hlo_program *p, uint32_t shape)
{
    const hlo_shape *s = &p->shapes[shape];
    const int64_t *dims = p->numbers + s->dims, *tile = p->numbers + s->tiles;
    physical d = {.n = s->rank};
    int64_t n = 1;
    if (s->type == HLO_TYPE_TUPLE || (!s->tile_count && s->tail <= 1))
        return hlo_shape_bytes(p, shape);
    for (uint32_t i = 0; i < s->rank; i++)
        d.v[i] = s->layout == HLO_NONE ? dims[i] : dims[p->numbers[s->layout + s->rank - 1 - i]];
    for (uint32_t i = 0; i < s->tile_count; tile += 1 + tile[0], i++)
        if (!cut_into_tiles(&d, tile + 1, (uint32_t)tile[0]))
            return HLO_UNSIZED;
    for (uint32_t i = 0; i < d.n; i++)
        if (!multiply_within_int64(&n, d.v[i]))
            return HLO_UNSIZED;
    int64_t blocks = s->tail > 1 ? n / s->tail + (n % s->tail != 0) : n;
    if (s->tail > 1 && !multiply_within_int64(&blocks, s->tail))
        return HLO_UNSIZED;
    return bytes_of_elements(blocks, s->element_bits);
}

uint32_t hlo_shape_at(const hlo_program *p, uint32_t shape, uint32_t index, uint32_t count)
{
    for (uint32_t i = 0; i < count && shape != HLO_NONE; i++) {
        const hlo_shape *s = &p->shapes[shape];
        int64_t k = p->numbers[index + i];
        shape = k >= 0 && k < s->leaf_count ? s->leaves + (uint32_t)k : HLO_NONE;
    }
    return shape;
}

static void put_dimension_list(vp_buf *b, const int64_t *v, uint32_t n, char open, char shut)
{
    vp_buf_putc(b, open);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            vp_buf_putc(b, ',');
        if (v[i] == COMBINE)
            vp_buf_putc(b, '*');
        else
            vp_buf_i64(b, v[i]);
    }
    if (shut)
        vp_buf_putc(b, shut);
}

static void put_array_shape(vp_buf *b, const hlo_program *p, const hlo_shape *s)
{
    const int64_t *tile = p->numbers + s->tiles;
    bool extra = s->tile_count || s->bits_said || s->memory_space;
    vp_buf_puts(b, hlo_type_name(s->type));
    put_dimension_list(b, p->numbers + s->dims, s->rank, '[', ']');
    if (!extra && (s->layout == HLO_NONE || !s->rank))
        return;
    put_dimension_list(b, p->numbers + (s->layout == HLO_NONE ? s->dims : s->layout),
                       s->layout == HLO_NONE ? 0 : s->rank, '{', 0);
    if (extra)
        vp_buf_putc(b, ':');
    if (s->tile_count)
        vp_buf_putc(b, 'T');
    for (uint32_t i = 0; i < s->tile_count; tile += 1 + tile[0], i++)
        put_dimension_list(b, tile + 1, (uint32_t)tile[0], '(', ')');
    if (s->bits_said)
        vp_buf_printf(b, "E(%d)", (int)s->element_bits);
    if (s->memory_space)
        vp_buf_printf(b, "S(%d)", (int)s->memory_space);
    vp_buf_putc(b, '}');
}

#define DEEPEST 16u

int hlo_put_shape(vp_buf *b, const hlo_program *p, uint32_t shape)
{
    struct {
        uint32_t first, next, end;
    } level[DEEPEST];
    uint32_t depth = 0;
    if (p->shapes[shape].type != HLO_TYPE_TUPLE) {
        put_array_shape(b, p, &p->shapes[shape]);
        return b->status;
    }
    for (uint32_t at = shape;;) {
        const hlo_shape *s = &p->shapes[at];
        bool tuple = s->type == HLO_TYPE_TUPLE;
        if (depth && at != level[depth - 1].first)
            vp_buf_puts(b, ", ");
        if (tuple && depth < DEEPEST) {
            vp_buf_putc(b, '(');
            level[depth].first = level[depth].next = s->leaves;
            level[depth++].end = s->leaves + s->leaf_count;
        } else if (tuple) {
            vp_buf_puts(b, "(...)");
        } else {
            put_array_shape(b, p, s);
        }
        while (depth && level[depth - 1].next == level[depth - 1].end) {
            vp_buf_putc(b, ')');
            depth--;
        }
        if (!depth || b->status < 0)
            return b->status;
        at = level[depth - 1].next++;
    }
}
