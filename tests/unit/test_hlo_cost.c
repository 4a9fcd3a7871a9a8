/* trace/analyze/mfu/hlo_cost: FLOP and bytes of instructions by their shapes
 * (docs/reference/memory-and-mfu.md#flop-of-hlo), on programs put together by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

/* [2, 100, 300] x [300, 200], contracting 2 and of batch 0: what a TPU's unit has beyond, and in
 * how many passes it makes f32 (PrecisionConfig: operand_precision 1, algorithm 2). */
static void what_a_matrix_unit_makes_of_it(void **state)
{
    rig r;
    (void)state;
    rig_init(&r);
    uint32_t a =
        instr(&r, "parameter", shape(&r, F32, 3, (int64_t[]){2, 100, 300}), HLO_NONE, HLO_NONE);
    uint32_t b = instr(&r, "parameter", matrix(&r, F32, 300, 200), HLO_NONE, HLO_NONE);
    uint32_t dot = instr(&r, "dot", shape(&r, F32, 3, (int64_t[]){2, 100, 200}), a, b);
    vp_buf d = hm_message(), config = hm_message();
    hm_numbers(&d, 1, (int64_t[]){2}, 1);
    hm_numbers(&d, 3, (int64_t[]){0}, 1);
    hm_into(&r.raw[dot], 30, &d);
    r.instrs[dot].raw = vp_buf_view(&r.raw[dot]);
    op_cost c = hlo_cost_of(&r.p, dot);
    assert_int_equal(c.flops, 2 * 2 * 100 * 300 * 200);
    assert_int_equal(c.mxu_flops[0], 2 * 2 * 104 * 384 * 256);
    assert_int_equal(c.mxu_flops[1], 2 * 2 * 104 * 512 * 256);
    assert_int_equal(c.passes, 1);
    hm_numbers(&config, 1, (int64_t[]){1, 2}, 2); /* high, highest */
    hm_into(&r.raw[dot], 51, &config);
    r.instrs[dot].raw = vp_buf_view(&r.raw[dot]);
    assert_int_equal(hlo_cost_of(&r.p, dot).passes, 6);
    config = hm_message();
    vp_pb_put_u64(&config, 2, 7); /* bf16 x 3 */
    hm_into(&r.raw[dot], 51, &config);
    r.instrs[dot].raw = vp_buf_view(&r.raw[dot]);
    assert_int_equal(hlo_cost_of(&r.p, dot).passes, 3);
    r.shapes[r.instrs[a].shape].type = BF16;
    assert_int_equal(hlo_cost_of(&r.p, dot).passes, 1);
    rig_free(&r);
}

/* As jax/_src/cudnn/fused_attention_stablehlo.py writes it: 4 x 8 heads of 128 queries and 256
 * keys, of width 64. */
static void attention_of_cudnn(void **state)
{
    static const char forth[] =
        "{\"operation_queue_id\": \"0\", \"cudnn_fmha_backend_config\": {\"algorithm\": "
        "{\"algo_id\": \"0\"}, \"fmha_scale\": 0.125, \"intermediate_tensor_shape\": "
        "{\"element_type\": \"BF16\", \"dimensions\": [\"4\", \"8\", \"128\", \"%s\"], "
        "\"tuple_shapes\": []}, \"mask_type\": \"%s\", \"sliding_window_length\": %d}}";
    const int64_t scores = INT64_C(4) * 8 * 128 * 256;
    char json[600];
    rig r;
    (void)state;
    rig_init(&r);
    uint32_t q =
        instr(&r, "parameter", shape(&r, BF16, 4, (int64_t[]){4, 128, 8, 64}), HLO_NONE, HLO_NONE);
    uint32_t k =
        instr(&r, "parameter", shape(&r, BF16, 4, (int64_t[]){4, 256, 8, 64}), HLO_NONE, HLO_NONE);
    uint32_t call = instr(&r, "custom-call", r.instrs[q].shape, q, k);
    r.links[r.p.link_count++] = k;
    hlo_instr *in = &r.instrs[call];
    in->operand_count = 3;
    in->custom_call_target = VP_STR("__cudnn$fmhaSoftmax");
    snprintf(json, sizeof json, forth, "256", "NO_MASK", 0);
    in->backend_config = vp_str_of(json);
    op_cost c = hlo_cost_of(&r.p, call);
    assert_int_equal(c.flops, 4 * scores * 64);
    assert_int_equal(c.dtype, VP_DTYPE_BF16);
    in->custom_call_target = VP_STR("__cudnn$fmhaSoftmaxBackward");
    assert_int_equal(hlo_cost_of(&r.p, call).flops, 10 * scores * 64);
    snprintf(json, sizeof json, forth, "256", "CAUSAL", 0);
    assert_int_equal(hlo_cost_of(&r.p, call).flops, 10 * scores * 64); /* no square */
    snprintf(json, sizeof json, forth, "128", "PADDING_CAUSAL", 0);
    in->backend_config = vp_str_of(json);
    assert_int_equal(hlo_cost_of(&r.p, call).flops, 10 * scores / 2 * 64 / 2);
    snprintf(json, sizeof json, forth, "128", "NO_MASK", 32);
    in->backend_config = vp_str_of(json);
    assert_int_equal(hlo_cost_of(&r.p, call).what, COST_UNKNOWN);
    in->backend_config = VP_STR("{\"intermediate_tensor_shape\":{\"dimensions\":[\"4\"]}}");
    assert_int_equal(hlo_cost_of(&r.p, call).what, COST_UNKNOWN);
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
        cmocka_unit_test(what_a_matrix_unit_makes_of_it),
        cmocka_unit_test(attention_of_cudnn),
        cmocka_unit_test(a_fusion_and_a_circle),
        cmocka_unit_test(a_convolution),
        cmocka_unit_test(slices_count_what_they_move),
        cmocka_unit_test(sizes_that_make_no_sense_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
