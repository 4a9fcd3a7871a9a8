/* trace/analyze/mfu/tiles: what products take beyond their shapes
 * (docs/reference/memory-and-mfu.md#tile-padding), and which tile a kernel's name tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/analyze/mfu/tiles.h"

static gpu_tile tile(const char *name)
{
    return tile_of_kernel(vp_str_of(name));
}

/* 8192 is 32 tiles of 256 and 37 of 224: 1,184 tiles are 4 waves of 304. */
static void waves_of_a_gpu(void **state)
{
    const product_shape s = {8192, 8192, 8192, 1};
    const int64_t flops = INT64_C(2) * 8192 * 8192 * 8192;
    (void)state;
    assert_int_equal(tile_padded(flops, &s, (gpu_tile){256, 224, 1}, 304),
                     INT64_C(2) * 4 * 304 * 256 * 224 * 8192);
    assert_int_equal(tile_padded(flops, &s, (gpu_tile){256, 224, 1}, 0),
                     INT64_C(2) * 32 * 37 * 256 * 224 * 8192);
    assert_int_equal(tile_padded(flops, &s, (gpu_tile){256, 224, 0}, 304),
                     INT64_C(2) * 32 * 37 * 256 * 224 * 8192);
    assert_int_equal(tile_padded(flops, &s, (gpu_tile){0, 0, 0}, 304), flops);
}

/* 128 x 64 fits one way without waste, the other way not. */
static void the_side_that_wastes_less(void **state)
{
    const product_shape s = {64, 128, 32, 3};
    const int64_t flops = INT64_C(2) * 3 * 64 * 128 * 32;
    (void)state;
    assert_int_equal(tile_padded(flops, &s, (gpu_tile){128, 64, 1}, 0), flops);
    assert_int_equal(tile_padded(flops, &s, (gpu_tile){128, 128, 1}, 0), 2 * flops);
    /* 3 tiles on 4 cores; in two parts each 6 on 4 */
    assert_int_equal(tile_padded(flops, &s, (gpu_tile){128, 64, 1}, 4), flops / 3 * 4);
    assert_int_equal(tile_padded(flops, &s, (gpu_tile){128, 64, 2}, 4), flops / 3 * 4);
    assert_int_equal(tile_padded(flops, &s, (gpu_tile){128, 64, 4}, 4), flops);
}

static void a_matrix_unit(void **state)
{
    const product_shape s = {100, 200, 300, 2};
    const int64_t flops = INT64_C(2) * 2 * 100 * 200 * 300;
    (void)state;
    assert_int_equal(mxu_padded(flops, &s, 128), INT64_C(2) * 2 * 104 * 256 * 384);
    assert_int_equal(mxu_padded(flops, &s, 256), INT64_C(2) * 2 * 104 * 256 * 512);
    assert_int_equal(mxu_padded(flops, &(product_shape){0}, 128), flops);
    assert_int_equal(mxu_padded(INT64_MAX, &(product_shape){1, 1, 1, 1}, 256), INT64_MAX);
}

static void no_shape_is_too_large(void **state)
{
    const int64_t most = INT64_MAX;
    (void)state;
    assert_int_equal(
        tile_padded(7, &(product_shape){most, most, most, most}, (gpu_tile){16, 16, 1}, 3), 7);
    const int64_t side = INT64_C(1) << 40;
    assert_true(tile_padded(most, &(product_shape){side, side, side, side}, (gpu_tile){17, 19, 1},
                            most) > most / 2);
    assert_int_equal(tile_scaled(most, most, 1), most);
    assert_int_equal(tile_scaled(10, 1, 0), 10);
    assert_int_equal(tile_scaled(10, 3, 2), 15);
}

static void names_of_kernels(void **state)
{
    static const struct {
        const char *name;
        gpu_tile is;
    } rows[] = {
        {"Cijk_Ailk_Bljk_BBS_BH_MT256x224x64_MI16x16x16x1_SN_1LDSB1_GSU1_SK0", {256, 224, 1}},
        {"Cijk_Ailk_Bljk_BBS_BH_MT256x224x64_MI16x16x16x1_SN_GSU4", {256, 224, 4}},
        {"Cijk_Ailk_Bljk_BBS_BH_MT256x224x64_MI16x16x16x1_SK3", {256, 224, 0}},
        {"Cijk_Alik_Bljk_B_BS_BH_Bias_UserArgs_MT64x160x128_MI16x16x1_GSUAMB", {64, 160, 0}},
        {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x64x64_warpgroupsize1x1x1_execute_"
         "segment_k_off_kernel__5x_cublas",
         {128, 64, 1}},
        {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8"
         ">(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8::Params)",
         {128, 64, 1}},
        {"nvjet_tst_128x256_64x4_1x2_h_bz_coopB_TNT", {128, 256, 1}},
        {"ampere_sgemm_32x128_nn", {32, 128, 1}},
        {"volta_h884gemm_64x64_ldg8_splitK_nn", {64, 64, 0}},
        {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt64x64x16_wt16x16x4", {64, 64, 1}},
        {"gemm_fusion_dot_general_1.kd", {0, 0, 0}},
        {"void gemmk1_kernel<int, float, 256, 5, false>", {0, 0, 0}},
        {"loop_add_fusion_128x128", {0, 0, 0}},
        {"gemm_4096x4096_x", {0, 0, 0}},
        {"_MT", {0, 0, 0}},
        {"", {0, 0, 0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gpu_tile t = tile(rows[i].name);
        assert_int_equal(t.m, rows[i].is.m);
        assert_int_equal(t.n, rows[i].is.n);
        assert_int_equal(t.split, rows[i].is.split);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_of_a_gpu),   cmocka_unit_test(the_side_that_wastes_less),
        cmocka_unit_test(a_matrix_unit),    cmocka_unit_test(no_shape_is_too_large),
        cmocka_unit_test(names_of_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
