#include "trace/analyze/device/kernel_launch.h"

#include "trace/base/err.h"

/* The value after "key:" in a text of such pairs; empty: none. */
static vp_str launch_value(vp_str launch, vp_str key)
{
    vp_str pair;
    while (launch.n && vp_take_until(&launch, ' ', launch.n, &pair))
        if (vp_str_starts(pair, key))
            return vp_str_skip(pair, key.n);
    return VP_STR_NONE;
}

static int launch_text(const char **out, vp_arena *arena, vp_str launch, vp_str key)
{
    vp_str v = launch_value(launch, key);
    *out = NULL;
    if (v.n && !(*out = vp_arena_strndup(arena, v.p, v.n)))
        return vp_no_memory();
    return 0;
}

static int64_t launch_number(vp_str launch, vp_str key)
{
    int64_t v;
    return vp_str_to_i64(launch_value(launch, key), &v) && v >= 0 ? v : VP_UNKNOWN;
}

/* Writers name it by where it is allocated; parts are added up. */
static int64_t shared_of(vp_str launch)
{
    static const vp_str keys[] = {VP_STR_INIT("static_shared:"), VP_STR_INIT("dynamic_shared:"),
                                  VP_STR_INIT("shared:"), VP_STR_INIT("shm:"),
                                  VP_STR_INIT("group_mem:")};
    int64_t sum = VP_UNKNOWN;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int64_t v = launch_number(launch, keys[i]);
        if (v != VP_UNKNOWN && __builtin_add_overflow(sum == VP_UNKNOWN ? 0 : sum, v, &sum))
            return VP_UNKNOWN;
    }
    return sum;
}

int kernel_launch_of(vp_kernel_launch *out, vp_arena *arena, vp_str launch)
{
    /* a kernel that ran occupied something: XLA writes 0 if it was not computed */
    bool reckoned = launch_number(launch, VP_STR("occ_pct:")) != 0;
    *out = (vp_kernel_launch){.registers = launch_number(launch, VP_STR("regs:")),
                              .shared_bytes = shared_of(launch)};
    VP_TRY(launch_text(&out->grid, arena, launch, VP_STR("grid:")));
    VP_TRY(launch_text(&out->block, arena, launch, VP_STR("block:")));
    return reckoned ? launch_text(&out->occupancy, arena, launch, VP_STR("occ_pct:")) : 0;
}

int kernel_launch_key(vp_buf *b, vp_str launch)
{
    if (!launch.n)
        return 0;
    vp_buf_str(b, launch_value(launch, VP_STR("grid:")));
    vp_buf_putc(b, ' ');
    vp_buf_str(b, launch_value(launch, VP_STR("block:")));
    vp_buf_printf(b, " %lld %lld ", (long long)launch_number(launch, VP_STR("regs:")),
                  (long long)shared_of(launch));
    return b->status;
}

static bool is_same_launch_text(const char *a, const char *b)
{
    return vp_str_eq(vp_str_of(a), vp_str_of(b));
}

bool kernel_launch_same(const vp_kernel_launch *a, const vp_kernel_launch *b)
{
    if (!a || !b)
        return a == b;
    return is_same_launch_text(a->grid, b->grid) && is_same_launch_text(a->block, b->block) &&
           a->registers == b->registers && a->shared_bytes == b->shared_bytes;
}

uint64_t kernel_launch_hash(const vp_kernel_launch *l, uint64_t seed)
{
    const vp_str texts[] = {vp_str_of(l->grid), vp_str_of(l->block)};
    const int64_t numbers[] = {l->registers, l->shared_bytes};
    for (size_t i = 0; i < 2; i++)
        seed = vp_fingerprint(texts[i].p, texts[i].n, seed);
    return vp_fingerprint(numbers, sizeof numbers, seed);
}

/* "MI16x16x16x1" of a Tensile kernel: the matrix instruction; "MI0" or a missing one means none. */
static vp_str tensile_mark(vp_str kernel)
{
    for (vp_str s = kernel; s.n > 4; s = vp_str_skip(s, 1)) {
        size_t n = 3;
        if (memcmp(s.p, "_MI", 3) != 0 || s.p[3] < '1' || s.p[3] > '9')
            continue;
        while (n < s.n && ((s.p[n] >= '0' && s.p[n] <= '9') || s.p[n] == 'x'))
            n++;
        return vp_str_skip((vp_str){s.p, n}, 1);
    }
    return VP_STR_NONE;
}

vp_str tensor_core_mark(vp_str kernel)
{
    vp_str mark,
        marks = VP_STR("16816 c1688 conv1x1 conv2d_c1_k1 dgrad_1x1_stride_2x2 direct_group "
                       "first_layer_wgrad_kernel h1688 h884 hmma i16832 i8816 s884 s1688 xmma_gemm "
                       "xmma_implicit_gemm xmma_sparse_conv xmma_sparse_gemm "
                       "xmma_warp_specialized_implicit_gemm tensorop gmma tcgen05");
    if (vp_str_starts(kernel, VP_STR("Cijk_")))
        return tensile_mark(kernel);
    while (marks.n && vp_take_until(&marks, ' ', marks.n, &mark))
        if (vp_str_find(kernel, mark) < kernel.n)
            return mark;
    return VP_STR_NONE;
}
