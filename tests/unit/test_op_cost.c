/* trace/read/semantics/op_cost: FLOP and bytes of PyTorch's ops by their shapes
 * (docs/reference/memory-and-mfu.md#flop-of-pytorch).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "include/view_profile_report.h"
#include "trace/read/semantics/op_cost.h"

static bool cost(rd_op_cost_of *out, const char *name, const char *dims, const char *types,
                 const char *concrete)
{
    return rd_op_cost(out, vp_str_of(name),
                      &(rd_op_shapes){vp_str_of(dims), vp_str_of(types), vp_str_of(concrete)});
}

static void products(void **state)
{
    rd_op_cost_of c;
    (void)state;
    assert_true(cost(&c, "aten::mm", "[[4, 8], [8, 2]]", "[\"float\", \"float\"]", "[]"));
    assert_int_equal(c.flops, 2 * 4 * 8 * 2);
    assert_int_equal(c.bytes, 4 * (32 + 16 + 8));
    assert_int_equal(c.dtype, VP_DTYPE_F32);
    assert_int_equal(c.rows, 4);
    assert_int_equal(c.columns, 2);
    assert_int_equal(c.batch, 1);
    assert_true(cost(&c, "aten::addmm", "[\n  [768],\n  [788, 768],\n  [768, 768],\n [],\n []]",
                     "[ \"c10::BFloat16\",\n \"c10::BFloat16\" ,\n\"c10::BFloat16\"]", ""));
    assert_int_equal(c.flops, INT64_C(2) * 788 * 768 * 768);
    assert_int_equal(c.bytes, 2 * (2 * 788 * 768 + 768 * 768 + 768));
    assert_int_equal(c.dtype, VP_DTYPE_BF16);
    assert_true(cost(&c, "aten::bmm", "[[3, 4, 8], [3, 8, 2]]", "[\"c10::Half\"]", ""));
    assert_int_equal(c.flops, 2 * 3 * 4 * 8 * 2);
    assert_int_equal(c.bytes, 2 * (96 + 48 + 24));
    assert_int_equal(c.rows * 100 + c.columns * 10 + c.batch, 423);
    assert_true(cost(&c, "aten::baddbmm", "[[3, 4, 2], [3, 4, 8], [3, 8, 2]]", "[]", ""));
    assert_int_equal(c.flops, 2 * 3 * 4 * 8 * 2);
}

static void convolutions(void **state)
{
    static const char dims[] = "[[4, 3, 224, 224], [768, 3, 16, 16], [], [], [], []]";
    static const char bf16[] = "[\"c10::BFloat16\"]";
    rd_op_cost_of c;
    (void)state;
    assert_true(cost(&c, "aten::cudnn_convolution", dims, bf16,
                     "[\"\", \"\", \"[0, 0]\", \"[16, 16]\", \"[1, 1]\", \"1\"]"));
    assert_int_equal(c.flops, 924844032);
    assert_int_equal(c.bytes, 2 * (4 * 3 * 224 * 224 + 768 * 3 * 16 * 16 + 4 * 768 * 14 * 14));
    assert_true(cost(&c, "aten::miopen_convolution", dims, bf16,
                     "[\"\", \"\", \"\", \"[0, 0]\", \"[16, 16]\", \"[1, 1]\", \"1\"]"));
    assert_int_equal(c.flops, 924844032);
    assert_true(cost(&c, "aten::convolution_backward",
                     "[[4, 768, 14, 14], [4, 3, 224, 224], [768, 3, 16, 16]]", bf16,
                     "[\"\", \"\", \"\", \"[0]\", \"[16, 16]\", \"[0, 0]\", \"[1, 1]\", \"False\", "
                     "\"[0, 0]\", \"1\", \"[True, True, False]\"]"));
    assert_int_equal(c.flops, 2 * 924844032);
    assert_false(cost(&c, "aten::convolution", dims, bf16,
                      "[\"\", \"\", \"\", \"[1]\", \"[0]\", \"[1]\", \"True\", \"[0]\", \"1\"]"));
}

static void attention(void **state)
{
    static const char dims[] = "[[4, 197, 12, 64], [4, 197, 12, 64], [4, 197, 12, 64], []]";
    rd_op_cost_of c;
    (void)state;
    assert_true(cost(&c, "aten::_flash_attention_forward", dims, "[\"c10::BFloat16\"]", "[]"));
    assert_int_equal(12 * c.flops, 5722619904);
    assert_int_equal(c.bytes, 2 * 4 * 4 * 197 * 12 * 64);
    assert_true(cost(&c, "aten::_flash_attention_backward",
                     "[[4, 197, 12, 64], [4, 197, 12, 64], [4, 197, 12, 64], [4, 197, 12, 64]]",
                     "[]", "[]"));
    assert_int_equal(12 * c.flops, 5722619904 * 5 / 2);
}

static void what_makes_no_sense_has_no_cost(void **state)
{
    static const char *const bad[] = {"",
                                      "[",
                                      "[[4, 8], [7, 2]]",
                                      "[[4, 8]]",
                                      "[[4], [8, 2]]",
                                      "[[-4, 8], [8, 2]]",
                                      "[[a]]",
                                      "[[4, 8], [8, 2",
                                      "[[1,1,1,1,1,1,1,1,1,1],[1]]",
                                      "[[[[[[[4]]]]]]]",
                                      "[[4, 8], \"x",
                                      "[[[4, 8]], [[8, 2]]",
                                      "[[9223372036854775807, 2], [2, 9223372036854775807]]",
                                      "[[18446744073709551616, 2], [2, 2]]"};
    rd_op_cost_of c;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (cost(&c, "aten::mm", bad[i], "[]", "[]"))
            fail_msg("%s", bad[i]);
    assert_false(cost(&c, "aten::add", "[[4, 8], [8, 2]]", "[]", "[]"));
    assert_false(cost(&c, "aten::cudnn_convolution", "[[4, 3, 8], [2, 3, 16]]", "[]",
                      "[\"\", \"\", \"[0]\", \"[0]\", \"[1]\"]"));
    assert_false(cost(&c, "aten::cudnn_convolution", "[[4, 3, 8], [2, 3, 16]]", "[]", ""));
    assert_true(rd_op_has_cost(VP_STR("aten::addmm")) && !rd_op_has_cost(VP_STR("mm")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(attention),
        cmocka_unit_test(what_makes_no_sense_has_no_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
