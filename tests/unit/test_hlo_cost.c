/* trace/analyze/mfu/hlo_cost: FLOP and bytes of instructions by their shapes (memory_mfu.md D5), on
 * programs put together by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/hlo_maker.h"
#include "trace/analyze/mfu/hlo_cost.h"

enum { F32 = 11, BF16 = 16, TUPLE = 13 };

typedef struct rig {
    hlo_program p;
    hlo_instr instrs[16];
    hlo_computation computations[4];
    hlo_shape shapes[32];
    int64_t numbers[128];
    uint32_t links[64];
    vp_buf raw[16];
} rig;

static void rig_init(rig *r)
{
    memset(r, 0, sizeof *r);
    r->p.instrs = r->instrs;
    r->p.computations = r->computations;
    r->p.shapes = r->shapes;
    r->p.numbers = r->numbers;
    r->p.links = r->links;
}

static void rig_free(rig *r)
{
    for (size_t i = 0; i < r->p.instr_count; i++)
        vp_buf_free(&r->raw[i]);
}

static uint32_t shape(rig *r, uint16_t type, uint8_t rank, const int64_t *dims)
{
    hlo_shape *s = &r->shapes[r->p.shape_count];
    *s = (hlo_shape){.type = type,
                     .rank = rank,
                     .element_bits = type == BF16 ? 16 : 32,
                     .dims = (uint32_t)r->p.number_count,
                     .layout = HLO_NONE};
    memcpy(r->numbers + r->p.number_count, dims, rank * sizeof *dims);
    r->p.number_count += rank;
    return (uint32_t)r->p.shape_count++;
}

static uint32_t instr(rig *r, const char *opcode, uint32_t shape_at, uint32_t a, uint32_t b)
{
    uint32_t at = (uint32_t)r->p.instr_count++;
    hlo_instr *in = &r->instrs[at];
    *in = (hlo_instr){
        .opcode = vp_str_of(opcode), .shape = shape_at, .operands = (uint32_t)r->p.link_count};
    for (uint32_t i = 0; i < 2 && (i ? b : a) != HLO_NONE; i++) {
        r->links[r->p.link_count++] = i ? b : a;
        in->operand_count++;
    }
    vp_buf_init(&r->raw[at], 4096);
    return at;
}

static void call(rig *r, uint32_t at, uint32_t computation)
{
    r->instrs[at].called = (uint32_t)r->p.link_count;
    r->instrs[at].called_count = 1;
    r->links[r->p.link_count++] = computation;
}

/* lhs contracts its dimension 1. */
static void contract(rig *r, uint32_t at)
{
    vp_buf d = hm_message();
    hm_numbers(&d, 1, (int64_t[]){1}, 1);
    hm_into(&r->raw[at], 30, &d);
    r->instrs[at].raw = vp_buf_view(&r->raw[at]);
}

static uint32_t matrix(rig *r, uint16_t type, int64_t m, int64_t n)
{
    return shape(r, type, 2, (int64_t[]){m, n});
}

static void a_dot(void **state)
{
    rig r;
    (void)state;
    rig_init(&r);
    uint32_t a = instr(&r, "parameter", matrix(&r, BF16, 4, 8), HLO_NONE, HLO_NONE);
    uint32_t b = instr(&r, "parameter", matrix(&r, BF16, 8, 2), HLO_NONE, HLO_NONE);
    uint32_t dot = instr(&r, "dot", matrix(&r, F32, 4, 2), a, b);
    contract(&r, dot);
    op_cost c = hlo_cost_of(&r.p, dot);
    assert_int_equal(c.what, COST_PRODUCT);
    assert_int_equal(c.flops, 2 * 4 * 8 * 2);
    assert_int_equal(c.bytes, 2 * 32 + 2 * 16 + 4 * 8);
    assert_int_equal(c.dtype, VP_DTYPE_BF16);
    assert_int_equal(hlo_cost_of(&r.p, a).bytes, 0);
    r.instrs[dot].opcode = VP_STR("custom-call");
    r.instrs[dot].custom_call_target = VP_STR("__cublas$gemm");
    r.instrs[dot].backend_config =
        VP_STR("{\"gemm_backend_config\":{\"dot_dimension_numbers\":{"
               "\"lhs_contracting_dimensions\":[\"1\"],\"rhs_…\":[\"0\"]}}}");
    assert_int_equal(hlo_cost_of(&r.p, dot).flops, 2 * 4 * 8 * 2);
    r.instrs[dot].custom_call_target = VP_STR("mine");
    assert_int_equal(hlo_cost_of(&r.p, dot).what, COST_UNKNOWN);
    rig_free(&r);
}

/* Of a fusion the FLOP are its body's, the bytes its own. */
static void a_fusion_and_a_circle(void **state)
{
    rig r;
    (void)state;
    rig_init(&r);
    uint32_t s = matrix(&r, F32, 16, 16);
    uint32_t a = instr(&r, "parameter", s, HLO_NONE, HLO_NONE);
    uint32_t fusion = instr(&r, "fusion", s, a, HLO_NONE);
    uint32_t dot = instr(&r, "dot", s, a, a);
    uint32_t add = instr(&r, "add", s, dot, a);
    contract(&r, dot);
    r.computations[0] = (hlo_computation){.first = dot, .count = 2};
    r.p.computation_count = 1;
    call(&r, fusion, 0);
    op_cost c = hlo_cost_of(&r.p, fusion);
    assert_int_equal(c.flops, 2 * 16 * 16 * 16);
    assert_int_equal(c.bytes, 2 * 4 * 256);
    assert_int_equal(hlo_cost_of(&r.p, add).what, COST_OTHER);
    assert_int_equal(hlo_cost_of(&r.p, add).flops, 0);
    r.instrs[add].opcode = VP_STR("call");
    call(&r, add, 0); /* of itself */
    assert_int_equal(hlo_cost_of(&r.p, fusion).what, COST_UNKNOWN);
    rig_free(&r);
}

/* 3 x 3 over 5 x 5 with padding 1: of a line's 15 pairs 13 lie in the input. */
static void a_convolution(void **state)
{
    rig r;
    (void)state;
    rig_init(&r);
    uint32_t in =
        instr(&r, "parameter", shape(&r, F32, 4, (int64_t[]){2, 4, 5, 5}), HLO_NONE, HLO_NONE);
    uint32_t w =
        instr(&r, "parameter", shape(&r, F32, 4, (int64_t[]){8, 4, 3, 3}), HLO_NONE, HLO_NONE);
    uint32_t conv = instr(&r, "convolution", shape(&r, F32, 4, (int64_t[]){2, 8, 5, 5}), in, w);
    vp_buf window = hm_message(), numbers = hm_message();
    for (int i = 0; i < 2; i++) {
        vp_buf d = hm_message();
        const int64_t v[] = {3, 1, 1, 1, 1, 1};
        for (uint32_t k = 0; k < 6; k++)
            vp_pb_put_u64(&d, k + 1, (uint64_t)v[k]);
        hm_into(&window, 1, &d);
    }
    vp_pb_put_u64(&numbers, 3, 1);
    vp_pb_put_u64(&numbers, 8, 1);
    vp_pb_put_u64(&numbers, 10, 1);
    hm_numbers(&numbers, 11, (int64_t[]){2, 3}, 2);
    hm_numbers(&numbers, 12, (int64_t[]){2, 3}, 2);
    hm_into(&r.raw[conv], 15, &window);
    hm_into(&r.raw[conv], 16, &numbers);
    r.instrs[conv].raw = vp_buf_view(&r.raw[conv]);
    assert_int_equal(hlo_cost_of(&r.p, conv).flops, 2 * 4 * 8 * 2 * 13 * 13);
    rig_free(&r);
}

static void slices_count_what_they_move(void **state)
{
    rig r;
    (void)state;
    rig_init(&r);
    uint32_t whole = instr(&r, "parameter", matrix(&r, F32, 100, 100), HLO_NONE, HLO_NONE);
    uint32_t part = instr(&r, "dynamic-slice", matrix(&r, F32, 1, 100), whole, HLO_NONE);
    uint32_t put = instr(&r, "dynamic-update-slice", r.instrs[whole].shape, whole, part);
    assert_int_equal(hlo_cost_of(&r.p, part).bytes, 2 * 400);
    assert_int_equal(hlo_cost_of(&r.p, put).bytes, 2 * 400);
    rig_free(&r);
}

static void sizes_that_make_no_sense_are_unknown(void **state)
{
    rig r;
    (void)state;
    rig_init(&r);
    uint32_t a = instr(&r, "parameter", matrix(&r, F32, INT64_MAX, 8), HLO_NONE, HLO_NONE);
    uint32_t b = instr(&r, "parameter", matrix(&r, F32, -3, 2), HLO_NONE, HLO_NONE);
    uint32_t dot = instr(&r, "dot", matrix(&r, F32, 4, 2), a, b);
    contract(&r, dot);
    assert_int_equal(hlo_cost_of(&r.p, dot).what, COST_UNKNOWN);
    uint32_t lost = instr(&r, "add", HLO_NONE, HLO_NONE, HLO_NONE);
    assert_int_equal(hlo_cost_of(&r.p, lost).bytes, 0);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dot),
        cmocka_unit_test(a_fusion_and_a_circle),
        cmocka_unit_test(a_convolution),
        cmocka_unit_test(slices_count_what_they_move),
        cmocka_unit_test(sizes_that_make_no_sense_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
