/* The holders of a plan's peak. */
#include "trace/analyze/memory/static_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/hlo/hlo_shape.h"

/* Maximum rows of one plan; the largest thousand are sufficient for any reader. */
#define ROWS_MAX 1000u
/* Bytes of a shape's text. */
#define SHAPE_MAX 600u
/* Maximum steps from an instruction of the compiler to the one it belongs to. */
#define ORIGIN_STEPS_MAX 16u

static const hlo_instr *instr_of(const hlo_program *p, uint32_t buffer)
{
    uint32_t i = buffer == HLO_NONE ? HLO_NONE : p->buffers[buffer].instr;
    return i == HLO_NONE ? NULL : &p->instrs[i];
}

static void put_buffer_name(vp_buf *b, const hlo_program *p, uint32_t buffer)
{
    const hlo_instr *in = instr_of(p, buffer);
    if (in)
        vp_buf_str(b, in->name);
    else
        vp_buf_putc(b, '?');
    for (uint32_t i = 0; in && i < p->buffers[buffer].index_count; i++) {
        vp_buf_putc(b, i ? ',' : '{');
        vp_buf_i64(b, p->numbers[p->buffers[buffer].index + i]);
    }
    if (in && p->buffers[buffer].index_count)
        vp_buf_putc(b, '}');
}

/* The text written by `put`, possibly truncated. */
static int take_made_text(const char **out, host_result *h, vp_buf *b)
{
    int rc = b->status == VP_ENOMEM ? VP_ENOMEM
             : b->status < 0        ? host_text(out, h, VP_STR("(...)"))
                                    : host_text(out, h, vp_buf_view(b));
    vp_buf_free(b);
    return rc;
}

/* The larger of two rows first, then by the name of the instruction and the index in its shape. */
static int by_live_bytes(const void *a, const void *b, void *ctx)
{
    const static_live *x = a, *y = b;
    const hlo_program *p = ctx;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    char left[160], right[160];
    const static_live *rows[] = {x, y};
    char *texts[] = {left, right};
    for (int i = 0; i < 2; i++) {
        const hlo_instr *in = instr_of(p, rows[i]->buffer);
        vp_str name = in ? in->name : VP_STR("?");
        const hlo_buffer *q = in ? &p->buffers[rows[i]->buffer] : NULL;
        int n = snprintf(texts[i], sizeof left, "%.*s", VP_STR_CUT(name, 100u));
        for (uint32_t k = 0; q && k < q->index_count && k < 4; k++)
            n += snprintf(texts[i] + n, 12, "%c%d", k ? ',' : '{',
                          (int)(p->numbers[q->index + k] % 1000000));
        if (q && q->index_count)
            snprintf(texts[i] + n, 2, "}");
    }
    int order = strcmp(left, right);
    return order ? order : (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

/* The dimension that its layout's tiles pad most. */
static int padded_text(const char **out, host_result *h, const hlo_program *p, uint32_t shape)
{
    const hlo_shape *s = &p->shapes[shape];
    const int64_t *tile = p->numbers + s->tiles;
    int64_t k = s->tile_count ? tile[0] : 0, worst = -1, from = 1, to = 1;
    char text[80];
    if (!k || hlo_shape_padded(p, shape) <= hlo_shape_bytes(p, shape))
        return 0;
    for (int64_t j = 0; j < k && s->layout != HLO_NONE; j++) {
        int64_t at = s->rank - k + j, side = tile[1 + j];
        int64_t dim = at < 0 ? -1 : p->numbers[s->layout + s->rank - 1 - at];
        int64_t d = dim < 0 ? 1 : p->numbers[s->dims + dim], up;
        if (side <= 0 || d <= 0 || d > INT64_MAX - side)
            continue;
        up = (d + side - 1) / side * side;
        if ((double)up * (double)from > (double)to * (double)d) {
            worst = dim;
            from = d;
            to = up;
        }
    }
    if (to == from)
        return 0;
    int n = worst < 0
                ? snprintf(text, sizeof text, "no dimension for tiles of %lld rows", (long long)to)
                : snprintf(text, sizeof text, "dimension %lld: %lld of %lld", (long long)worst,
                           (long long)from, (long long)to);
    return host_text(out, h, (vp_str){text, (size_t)n});
}

int static_source(const char **out, host_result *h, const hlo_instr *in)
{
    vp_buf b;
    if (!in->source_file.n)
        return 0;
    vp_buf_init(&b, 8192);
    vp_buf_str(&b, in->source_file);
    vp_buf_printf(&b, ":%d", (int)in->source_line);
    return take_made_text(out, h, &b);
}

static bool passes_on(vp_str opcode)
{
    static const char *const opcodes[] = {"copy",      "copy-start",       "copy-done",
                                          "convert",   "bitcast",          "reshape",
                                          "transpose", "get-tuple-element"};
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (vp_str_eq(opcode, vp_str_of(opcodes[i])))
            return true;
    return false;
}

/* Instructions added by the compiler have no place in the program; the instructions that they copy
 * or fuse have one. NULL: unknown, or it has a scope itself. */
static const hlo_instr *origin_instruction(const hlo_program *p, const hlo_instr *in)
{
    const hlo_instr *at = in;
    for (unsigned n = 0; !at->op_name.n; n++) {
        uint32_t next = HLO_NONE, body = HLO_NONE;
        if (n == ORIGIN_STEPS_MAX)
            return NULL;
        if (vp_str_eq(at->opcode, VP_STR("fusion")) && at->called_count)
            body = p->links[at->called];
        if (body != HLO_NONE)
            next = p->computations[body].root;
        else if (passes_on(at->opcode) && at->operand_count)
            next = p->links[at->operands];
        if (next == HLO_NONE)
            return NULL;
        at = &p->instrs[next];
    }
    return at == in ? NULL : at;
}

static int put_plan_row(vp_plan_buffer *out, host_result *h, const hlo_program *p,
                        const static_live *l)
{
    const hlo_instr *in = instr_of(p, l->buffer);
    uint32_t shape = l->buffer == HLO_NONE ? HLO_NONE : p->buffers[l->buffer].shape;
    vp_buf b;
    *out = (vp_plan_buffer){.kind = l->kind,
                            .bytes = l->bytes,
                            .unpadded_bytes = VP_UNKNOWN,
                            .first = l->first == REPLAY_NEVER ? VP_UNKNOWN : l->first,
                            .last = l->last == REPLAY_NEVER ? VP_UNKNOWN : l->last,
                            .unused = l->unused};
    vp_buf_init(&b, 4096);
    put_buffer_name(&b, p, l->buffer);
    VP_TRY(take_made_text(&out->instruction, h, &b));
    if (shape != HLO_NONE) {
        out->unpadded_bytes = hlo_shape_bytes(p, shape);
        vp_buf_init(&b, SHAPE_MAX);
        hlo_put_shape(&b, p, shape);
        VP_TRY(take_made_text(&out->shape, h, &b));
        VP_TRY(padded_text(&out->padded, h, p, shape));
    }
    if (!in)
        return 0;
    VP_TRY(host_text(&out->opcode, h, in->opcode));
    VP_TRY(host_text(&out->scope, h, in->op_name));
    VP_TRY(static_source(&out->source, h, in));
    const hlo_instr *origin = origin_instruction(p, in);
    if (!origin)
        return 0;
    VP_TRY(host_text(&out->origin_scope, h, origin->op_name));
    return static_source(&out->origin_source, h, origin);
}

static int put_other_buffers(vp_plan_buffer *out, host_result *h, const hlo_program *p,
                             const static_live *live, size_t n)
{
    char text[64];
    *out = (vp_plan_buffer){
        .kind = VP_BUFFER_OTHERS, .first = VP_UNKNOWN, .last = VP_UNKNOWN, .unused = VP_UNKNOWN};
    for (size_t i = 0; i < n; i++) {
        uint32_t shape = live[i].buffer == HLO_NONE ? HLO_NONE : p->buffers[live[i].buffer].shape;
        int64_t v = shape == HLO_NONE ? VP_UNKNOWN : hlo_shape_bytes(p, shape);
        out->bytes += live[i].bytes;
        out->unpadded_bytes =
            v < 0 || out->unpadded_bytes < 0 ? VP_UNKNOWN : out->unpadded_bytes + v;
    }
    snprintf(text, sizeof text, "%zu smaller buffers", n);
    return host_text(&out->instruction, h, vp_str_of(text));
}

int static_rows(vp_memory_plan *plan, host_result *h, const hlo_program *p, static_live *live,
                size_t n)
{
    size_t rows = n > ROWS_MAX ? ROWS_MAX : n;
    if (!n || plan->peak_bytes < 0)
        return 0;
    qsort_r(live, n, sizeof *live, by_live_bytes, (void *)p);
    plan->live = vp_arena_zalloc(&h->arena, (rows + 1) * sizeof *plan->live);
    VP_NEED(plan->live);
    for (size_t i = 0; i < rows; i++)
        VP_TRY(put_plan_row(&plan->live[i], h, p, &live[i]));
    plan->live_count = rows;
    return rows == n
               ? 0
               : put_other_buffers(&plan->live[plan->live_count++], h, p, live + rows, n - rows);
}

vp_str static_scope(const hlo_program *p, uint32_t buffer)
{
    const hlo_instr *in = instr_of(p, buffer);
    vp_str path = in ? in->op_name : VP_STR_NONE;
    size_t slash = vp_str_rfind_char(path, '/');
    return slash < path.n ? vp_str_head(path, slash) : path;
}
