/* trace/analyze/hlo_text: shapes and instructions as XLA prints them, by hand and cut anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/analyze/device/hlo_text.h"
#include "trace/base/mem.h"

static int64_t bytes(const char *shape)
{
    return hlo_bytes(vp_str_of(shape));
}

static void shapes_have_bytes(void **state)
{
    (void)state;
    assert_int_equal(bytes("f32[]"), 4);
    assert_int_equal(bytes("f32[5,1024,1024,256]{3,2,1,0:T(8,128)S(5)}"), INT64_C(5368709120));
    assert_int_equal(bytes("bf16[1024,5120]{1,0:T(8,128)(2,1)S(1)}"), 1024 * 5120 * 2);
    assert_int_equal(bytes("pred[1024]{0:T(1024)(128)(4,1)}"), 1024);
    assert_int_equal(bytes("f8e4m3fn[16,16]"), 256);
    assert_int_equal(bytes("f4e2m1fn[3]"), 2); /* 12 bits */
    assert_int_equal(bytes("s4[7]"), 4);       /* 28 bits */
    assert_int_equal(bytes("u2[8]"), 2);
    assert_int_equal(bytes("c128[2]"), 32);
    assert_int_equal(bytes("f32[0,4]"), 0);
    assert_int_equal(bytes("f32[<=5]"), 20);
    assert_int_equal(bytes("token[]"), 0);
    assert_int_equal(bytes("()"), 0);
    assert_int_equal(bytes("(f32[2], (s32[3], u32[]{:S(2)}), /*index=5*/bf16[4])"), 8 + 12 + 4 + 8);
}

static void what_cannot_be_read_is_unknown(void **state)
{
    static const char *const odd[] = {
        "",       "?",           "f32",     "f32[",    "f32[?]",     "f32[-1]",
        "x99[2]", "f[2]",        "tuple[]", "f32[,1]", "f32[4]{1,0", "f32[9223372036854775807,4]",
        "%a",     "(f32[2], %a)"};
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        if (bytes(odd[i]) != -1)
            fail_msg("%s has %lld bytes", odd[i], (long long)bytes(odd[i]));
}

static void instructions_come_apart(void **state)
{
    static const char text[] =
        "%copy-done.2 = f32[8]{0:S(5)} copy-done((f32[8]{0:S(5)}, f32[8]{0}, u32[]{:S(2)}) "
        "%copy-start.2), sharding={devices=[2]<=[2]}";
    hlo_text h;
    (void)state;
    assert_true(hlo_split(&h, vp_str_of(text)));
    assert_true(vp_str_eq(h.shape, VP_STR("f32[8]{0:S(5)}")));
    assert_true(vp_str_eq(h.opcode, VP_STR("copy-done")));
    assert_true(vp_str_eq(hlo_last_operand(h.operands), VP_STR("copy-start.2")));
    assert_int_equal(hlo_operand_bytes(h.operands), 32 + 32 + 4);
    assert_int_equal(hlo_memory_space(h.shape), 5);
    vp_str from = hlo_element(h.operands, 1);
    assert_true(vp_str_eq(from, VP_STR("f32[8]{0}")));
    assert_int_equal(hlo_memory_space(from), 0);
    assert_int_equal(hlo_element(h.operands, 3).n, 0);
    assert_false(hlo_split(&h, VP_STR("fusion.3")));
}

static void operands_may_come_without_shapes(void **state)
{
    (void)state;
    assert_int_equal(hlo_operand_bytes(VP_STR("f32[8]{0} %a, (s8[4], s8[4]) %b")), 40);
    assert_int_equal(hlo_operand_bytes(VP_STR("%a, f32[8] %b")), -1);
    assert_int_equal(hlo_operand_bytes(VP_STR("")), -1);
    assert_int_equal(hlo_last_operand(VP_STR("f32[8] a")).n, 0);
}

/* Every prefix in a block of its own, so that a read beyond its end is seen. */
static void cut_texts_end_well(void **state)
{
    static const char text[] = "%a.1 = (f32[2,3]{1,0:T(8,128)S(5)}, (bf16[<=4]), u32[]) "
                               "all-gather-start(f32[2] %x, s4[3] %y), replica_groups={{0,1}}";
    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        char *cut = vp_malloc(n ? n : 1);
        hlo_text h;
        memcpy(cut, text, n);
        vp_str s = {cut, n};
        if (hlo_split(&h, s)) {
            hlo_bytes(h.shape);
            hlo_operand_bytes(h.operands);
            hlo_last_operand(h.operands);
        }
        hlo_bytes(s);
        hlo_memory_space(s);
        assert_true(hlo_element(s, 1).n <= n);
        vp_free(cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_have_bytes),
        cmocka_unit_test(what_cannot_be_read_is_unknown),
        cmocka_unit_test(instructions_come_apart),
        cmocka_unit_test(operands_may_come_without_shapes),
        cmocka_unit_test(cut_texts_end_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
