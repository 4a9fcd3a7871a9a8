/* trace/read/hlo: what a shape takes, what a proto says, the protos of all real profiles, and
 * protos that nobody should write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/hlo_maker.h"
#include "tests/unit/hlo_protos.h"
#include "trace/base/err.h"
#include "trace/read/hlo/hlo_program.h"
#include "trace/read/hlo/hlo_shape.h"
#include "trace/read/semantics/hlo_types.h"

enum { PRED = 1, S8 = 2, S32 = 4, F32 = 11, BF16 = 16, S4 = 21 };

/* A program whose only instruction, "a", has this shape. */
static hlo_program *program_of(vp_buf *shape, vp_buf *kept)
{
    vp_buf c = hm_message(), none = hm_message();
    hlo_program *p = NULL;
    hm_put_instr(&c, &(hm_instr){.name = "a", .opcode = "add", .id = 7, .shape = *shape});
    *kept = hm_proto("m", &c, 7, (int64_t[]){7}, 1, &none);
    assert_int_equal(hlo_program_parse(&p, vp_buf_view(kept)), 0);
    return p;
}

static void check_shape(const hm_array *a, int64_t bytes, int64_t padded, const char *text)
{
    vp_buf shape = hm_shape(a), proto, b = hm_message();
    hlo_program *p = program_of(&shape, &proto);
    uint32_t s = p->instrs[0].shape;
    assert_int_equal(hlo_shape_bytes(p, s), bytes);
    assert_int_equal(hlo_shape_padded(p, s), padded);
    assert_int_equal(hlo_put_shape(&b, p, s), 0);
    assert_string_equal(vp_buf_cstr(&b), text);
    vp_buf_free(&b);
    hlo_program_free(p);
    vp_buf_free(&proto);
}

/* The vectors of docs/reference/memory-and-mfu.md#sizes-and-padding. */
static void tiles_pad(void **state)
{
    (void)state;
    const hm_array scalar = {.type = F32, .tiles = 1, .tile = {{1, {128}}}},
                   five = {F32, 1, {5}, {0}, 1, {{1, {128}}}, 0, 0, 0},
                   matrix = {F32, 2, {100, 200}, {1, 0}, 1, {{2, {8, 128}}}, 0, 0, 0},
                   half = {BF16, 2, {100, 200}, {1, 0}, 2, {{2, {8, 128}}, {2, {2, 1}}}, 0, 0, 0},
                   turned = {F32, 2, {10, 3}, {0, 1}, 1, {{2, {8, 128}}}, 0, 0, 0},
                   bytes = {S8, 2, {7, 130}, {1, 0}, 2, {{2, {8, 128}}, {2, {4, 1}}}, 0, 0, 0},
                   bits = {PRED, 1, {1024}, {0}, 3, {{1, {1024}}, {1, {128}}, {2, {4, 1}}},
                           0,    0, 0};
    check_shape(&scalar, 4, 512, "f32[]{:T(128)}");
    check_shape(&five, 20, 512, "f32[5]{0:T(128)}");
    check_shape(&matrix, 80000, 106496, "f32[100,200]{1,0:T(8,128)}");
    check_shape(&half, 40000, 53248, "bf16[100,200]{1,0:T(8,128)(2,1)}");
    check_shape(&turned, 120, 4096, "f32[10,3]{0,1:T(8,128)}");
    check_shape(&bytes, 910, 2048, "s8[7,130]{1,0:T(8,128)(4,1)}");
    check_shape(&bits, 1024, 1024, "pred[1024]{0:T(1024)(128)(4,1)}");
}

static void layouts_without_tiles(void **state)
{
    (void)state;
    const hm_array plain = {F32, 2, {3, 5}, {1, 0}, 0, {{0, {0}}}, 0, 0, 0},
                   packed = {S4, 1, {5}, {0}, 0, {{0, {0}}}, 4, 0, 0},
                   wide = {S4, 1, {5}, {0}, 0, {{0, {0}}}, 0, 5, 0},
                   tail = {S4, 1, {5}, {0}, 0, {{0, {0}}}, 4, 0, 16},
                   merged = {F32, 2, {3, 5}, {1, 0}, 1, {{2, {INT64_MIN, 8}}}, 0, 0, 0};
    check_shape(&plain, 60, 60, "f32[3,5]{1,0}");
    check_shape(&packed, 3, 3, "s4[5]{0:E(4)}");
    check_shape(&wide, 5, 5, "s4[5]{0:S(5)}");
    check_shape(&tail, 3, 8, "s4[5]{0:E(4)}");
    check_shape(&merged, 60, 64, "f32[3,5]{1,0:T(*,8)}");
}

static void sizes_that_do_not_fit_are_unknown(void **state)
{
    (void)state;
    const hm_array large = {F32, 2, {INT64_MAX, 2}, {1, 0}, 0, {{0, {0}}}, 0, 0, 0},
                   negative = {S32, 1, {-8}, {0}, 0, {{0, {0}}}, 0, 0, 0},
                   odd = {S32, 1, {8}, {0}, 1, {{1, {0}}}, 0, 0, 0},
                   huge = {S32, 1, {INT64_MAX / 4}, {0}, 1, {{1, {128}}}, 0, 0, 0};
    check_shape(&large, -1, -1, "f32[9223372036854775807,2]{1,0}");
    check_shape(&negative, -1, -1, "s32[-8]{0}");
    check_shape(&odd, 32, -1, "s32[8]{0:T(0)}");
    check_shape(&huge, -1, -1, "s32[2305843009213693951]{0:T(128)}");
}

static void tuples_lie_side_by_side(void **state)
{
    (void)state;
    const hm_array a = {F32, 1, {5}, {0}, 0, {{0, {0}}}, 0, 0, 0};
    vp_buf leaf = hm_shape(&a), again = hm_shape(&a), inner = hm_message(), outer = hm_message(),
           empty = hm_message(), proto, b = hm_message();
    vp_pb_put_u64(&inner, 2, 13);
    hm_into(&inner, 4, &leaf);
    vp_pb_put_u64(&empty, 2, 13);
    vp_pb_put_u64(&outer, 2, 13);
    hm_into(&outer, 4, &inner);
    hm_into(&outer, 4, &empty);
    hm_into(&outer, 4, &again);
    hlo_program *p = program_of(&outer, &proto);
    uint32_t s = p->instrs[0].shape;
    assert_int_equal(p->shapes[s].leaf_count, 3);
    assert_int_equal(hlo_shape_bytes(p, s), 24);
    assert_int_equal(hlo_put_shape(&b, p, s), 0);
    assert_string_equal(vp_buf_cstr(&b), "((f32[5]{0}), (), f32[5]{0})");
    p->numbers[0] = 0;
    p->numbers[1] = 1;
    assert_int_equal(hlo_shape_at(p, s, 0, 2), HLO_NONE); /* (0, 1): there is one element */
    p->numbers[1] = 0;
    assert_int_equal(p->shapes[hlo_shape_at(p, s, 0, 2)].type, F32);
    vp_buf_free(&b);
    hlo_program_free(p);
    vp_buf_free(&proto);
}

/* --- a whole proto --- */

static vp_buf small_proto(void)
{
    const hm_array f = {F32, 1, {256}, {0}, 0, {{0, {0}}}, 0, 0, 0};
    vp_buf c = hm_message(), a = hm_message(), t = hm_message();
    hm_put_instr(
        &c, &(hm_instr){
                .name = "p", .opcode = "parameter", .id = INT64_C(1) << 40, .shape = hm_shape(&f)});
    hm_put_instr(&c, &(hm_instr){.name = "t",
                                 .opcode = "sine",
                                 .op_name = "jit(f)/sin",
                                 .file = "f.py",
                                 .line = 3,
                                 .id = 2,
                                 .operands = {INT64_C(1) << 40},
                                 .operand_count = 1,
                                 .shape = hm_shape(&f)});
    hm_put_instr(&c, &(hm_instr){.name = "o",
                                 .opcode = "add",
                                 .id = 3,
                                 .operands = {2, 99},
                                 .operand_count = 2,
                                 .shape = hm_shape(&f)});
    hm_put_buffer(&a, 0, 1024, INT64_C(1) << 40, 0);
    hm_put_buffer(&a, 1, 1024, 2, 0);
    hm_put_buffer(&a, 2, 1024, 3, 0);
    hm_put_allocation(&a, &(hm_allocation){0, 1024, 0, 0, false, false, false, {0}, 1});
    hm_put_allocation(&a, &(hm_allocation){1, 1024, 0, -1, true, false, false, {2}, 1});
    hm_put_allocation(&a, &(hm_allocation){2, 1024, 0, -1, false, false, false, {1, 77}, 2});
    hm_put_event(&t, HLO_HEAP_ALLOC, 1, "t", 0);
    hm_put_event(&t, HLO_HEAP_FREE, 1, "o", 0);
    hm_into(&a, 4, &t);
    return hm_proto("jit_f", &c, 3, (int64_t[]){INT64_C(1) << 40, 2, 3}, 3, &a);
}

static void a_proto_says(void **state)
{
    (void)state;
    vp_buf proto = small_proto();
    hlo_program *p = NULL;
    assert_int_equal(hlo_program_parse(&p, vp_buf_view(&proto)), 0);
    assert_true(vp_str_eq(p->name, VP_STR("jit_f")));
    assert_int_equal(p->instr_count, 3);
    assert_int_equal(p->entry, 0);
    assert_int_equal(p->computations[0].root, 2);
    assert_int_equal(p->computations[0].order_count, 3);
    const hlo_instr *t = &p->instrs[hlo_program_find(p, VP_STR("t"))];
    assert_true(vp_str_eq(t->op_name, VP_STR("jit(f)/sin")));
    assert_true(vp_str_eq(t->source_file, VP_STR("f.py")));
    assert_int_equal(t->source_line, 3);
    assert_int_equal(p->links[t->operands], 0);
    assert_int_equal(p->links[p->instrs[2].operands + 1], HLO_NONE);
    assert_int_equal(hlo_program_find(p, VP_STR("nobody")), HLO_NONE);
    assert_int_equal(p->buffer_count, 3);
    assert_int_equal(p->buffers[1].instr, 1);
    assert_int_equal(p->buffers[1].allocation, 2);
    assert_true(p->allocations[0].is_parameter && !p->allocations[1].is_parameter);
    assert_int_equal(p->trace_count, 1);
    assert_int_equal(p->events[1].kind, HLO_HEAP_FREE);
    assert_int_equal(p->loose, 2); /* operand 99 and buffer 77 */
    hlo_program_free(p);
    vp_buf_free(&proto);
}

/* Wherever a proto ends, it is refused or read, with nothing outside touched (the sanitizers look).
 */
static void cut_anywhere(void **state)
{
    (void)state;
    vp_buf proto = small_proto();
    size_t refused = 0;
    for (size_t n = 0; n < proto.n; n++) {
        hlo_program *p = NULL;
        char *copy = vp_malloc(n + 1);
        memcpy(copy, proto.p, n);
        int rc = hlo_program_parse(&p, (vp_str){copy, n});
        assert_true(rc == 0 || (rc == VP_ECORRUPT && !p));
        assert_true(!p || p->plan_refused || !p->assigned_memory);
        refused += rc != 0 || p->plan_refused;
        hlo_program_free(p);
        vp_free(copy);
    }
    assert_true(refused >= proto.n - 2); /* nothing is a proto, and so is the module alone */
    vp_buf_free(&proto);
}

/* 4,096 tuples, one in the other. */
static void deep_tuples_do_not_recurse(void **state)
{
    (void)state;
    vp_buf shape = hm_message(), proto, b = hm_message();
    vp_pb_put_u64(&shape, 2, 13);
    for (int i = 0; i < 4096; i++) {
        vp_buf outer = hm_message();
        vp_pb_put_u64(&outer, 2, 13);
        hm_into(&outer, 4, &shape);
        shape = outer;
    }
    hlo_program *p = program_of(&shape, &proto);
    assert_int_equal(p->shape_count, 4097);
    assert_int_equal(hlo_put_shape(&b, p, p->instrs[0].shape), 0);
    assert_true(b.n < 100);
    vp_buf_free(&b);
    hlo_program_free(p);
    vp_buf_free(&proto);
}

/* --- the protos of real profiles --- */

static size_t arrays, differing;

static void compare_sizes(const char *path, vp_str module, vp_str proto)
{
    hlo_program *p = NULL;
    if (hlo_program_parse(&p, proto) < 0)
        fail_msg("%s %.*s: %s", path, (int)module.n, module.p, vp_error_last()->message);
    assert_int_equal(p->loose, 0);
    for (size_t i = 0; i < p->buffer_count; i++) {
        const hlo_buffer *b = &p->buffers[i];
        assert_int_not_equal(b->shape, HLO_NONE);
        if (p->shapes[b->shape].type == HLO_TYPE_TUPLE)
            continue;
        arrays++;
        differing += hlo_shape_padded(p, b->shape) != b->size;
    }
    hlo_program_free(p);
}

static void real_buffers_have_the_size_of_their_shape(void **state)
{
    (void)state;
    hlo_protos_walk(compare_sizes);
    print_message("%zu array buffers\n", arrays);
    assert_int_equal(differing, 0);
    assert_true(arrays >= (traces_wide() ? 2592 : 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_pad),
        cmocka_unit_test(layouts_without_tiles),
        cmocka_unit_test(sizes_that_do_not_fit_are_unknown),
        cmocka_unit_test(tuples_lie_side_by_side),
        cmocka_unit_test(a_proto_says),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(deep_tuples_do_not_recurse),
        cmocka_unit_test(real_buffers_have_the_size_of_their_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
