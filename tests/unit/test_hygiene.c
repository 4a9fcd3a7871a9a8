/* trace/analyze/hygiene and splits (docs/reference/metrics.md#hygiene), scopes: by hand, and on
 * real files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/trace_maker.h"
#include "trace/analyze/device/scopes.h"

#define US INT64_C(1000000)

typedef struct rig {
    trace *t;
    uint32_t ops;
    int64_t now;
    host_result h;
} rig;

static rig make(sink_process_kind kind)
{
    rig r = {.t = tm_new()};
    uint32_t device = tm_process(r.t, kind, "device", 0);
    r.ops = tm_track(r.t, device, "ops", SINK_ROLE_OPS);
    return r;
}

/* The next op, `us` long, with a gap before it that ends every chain. */
static void op(rig *r, sink_kind k, int64_t us)
{
    tm_event(r->t, r->ops, k, r->now + 10 * US, r->now + (10 + us) * US, NULL);
    r->now += (10 + us) * US;
}

static sink_kind hlo(const char *name, const char *category, const char *scope)
{
    sink_kind k = tm_plain(name);
    k.category = vp_str_of(category);
    k.scope = vp_str_of(scope);
    return k;
}

static const vp_hygiene *hygiene(rig *r)
{
    tm_analyze(&r->h, r->t);
    return &r->h.devices[0].hygiene;
}

static void tpu_ops_fall_into_their_kinds(void **state)
{
    rig r = make(SINK_PROCESS_TPU);
    (void)state;
    sink_kind twin = hlo("fusion.9", "loop fusion", "");
    twin.twin_of = VP_STR("fusion.2");
    op(&r, twin, 1024);
    op(&r, twin, 1024);
    op(&r, hlo("copy.1", "data formatting", ""), 1);
    op(&r, hlo("fusion.1", "convolution fusion", "jit(f)/transpose(jvp(a))/dot"), 2);
    op(&r, hlo("fusion.2", "loop fusion", "jit(f)/rematted_computation/mul"), 4);
    op(&r, hlo("fusion.3.remat2", "loop fusion", "jit(f)/a/mul"), 8);
    op(&r, hlo("slice-done.1", "async-done", ""), 16);
    op(&r, hlo("copy-done.1", "copy-done", ""), 32);
    op(&r, hlo("pad.1", "pad", ""), 64);
    op(&r, hlo("infeed.1", "infeed", ""), 128);
    op(&r, hlo("custom-call.1", "custom-call", "jit(f)/debug_callback"), 256);
    op(&r, hlo("transpose.9", "loop fusion", ""), 512); /* its category knows better */
    const vp_hygiene *y = hygiene(&r);
    assert_int_equal(y->duplicate_ps, 2048 * US);
    assert_int_equal(y->duplicate_ops, 1);
    assert_int_equal(y->formatting_ps, 1 * US);
    assert_int_equal(y->remat_ps, (4 + 8) * US);
    assert_int_equal(y->async_done_ps, (16 + 32) * US);
    assert_int_equal(y->padding_ps, 64 * US);
    assert_int_equal(y->infeed_ps, 128 * US);
    assert_int_equal(y->callback_ps, 256 * US);
    tm_free(&r.h, r.t);
}

static void gpu_kernels_by_name_or_instruction(void **state)
{
    rig r = make(SINK_PROCESS_GPU);
    sink_kind xla = tm_plain("loop_copy_fusion_3"), of_copy = tm_plain("wrapped_slice");
    sink_kind gemm = tm_plain("gemm_transpose_kernel");
    (void)state;
    xla.hlo_op = VP_STR("loop_copy_fusion.3");
    of_copy.hlo_op = VP_STR("x.1");
    of_copy.hlo_opcode = VP_STR("reshape");
    gemm.hlo_op = VP_STR("gemm_fusion.1"); /* XLA: what it begins with counts */
    op(&r, xla, 1);
    op(&r, of_copy, 2);
    op(&r, gemm, 4);
    op(&r, tm_plain("void nchwToNhwcKernel<float, float>(int)"), 8);
    op(&r, tm_plain("at::native::elementwise_kernel<direct_copy_kernel_cuda(int)>"), 16);
    op(&r, tm_plain("ampere_sgemm_128x64_tn"), 32);
    op(&r, tm_plain("Memcpy DtoD (Device -> Device)"), 64); /* a copy is no formatting */
    assert_int_equal(hygiene(&r)->formatting_ps, (1 + 2 + 8 + 16) * US);
    tm_free(&r.h, r.t);
}

/* Chains: five ops of 4 us with gaps of 4 us; a sixth after 5 us begins anew; a copy ends one. */
static void small_ops_in_a_row_are_a_chain(void **state)
{
    rig r = make(SINK_PROCESS_GPU);
    int64_t t = 0;
    (void)state;
    for (int i = 0; i < 5; i++, t += 8 * US)
        tm_put(r.t, r.ops, "add", t, t + 4 * US);
    t += 1 * US; /* 5 us after the fifth */
    for (int i = 0; i < 4; i++, t += 4 * US)
        tm_put(r.t, r.ops, "add", t, t + 4 * US);
    tm_put(r.t, r.ops, "MemcpyD2D", t, t + 1 * US);
    t += 1 * US;
    for (int i = 0; i < 7; i++, t += 2 * US)
        tm_put(r.t, r.ops, i == 6 ? "gemm" : "mul", t, t + (i == 6 ? 5 : 2) * US);
    const vp_hygiene *y = hygiene(&r);
    assert_int_equal(y->chains, 2);
    assert_int_equal(y->chain_ps, (5 * 4 + 6 * 2) * US);
    tm_free(&r.h, r.t);
}

static const vp_op *op_named(const host_result *h, const char *name)
{
    for (size_t i = 0; i < h->op_count; i++)
        if (!strcmp(h->ops[i].name, name))
            return &h->ops[i];
    fail_msg("no op %s", name);
    return NULL;
}

static sink_kind shaped(const char *name, const char *shape, const char *scope)
{
    sink_kind k = hlo(name, "loop fusion", scope);
    k.shape = vp_str_of(shape);
    return k;
}

/* "fusion" mixes two shapes (a layout makes no third where calls of both take the same time,
 * however far they lie apart), "dot" two scopes of one shape; "mul" is below 5 %. */
static void large_groups_come_apart(void **state)
{
    rig r = make(SINK_PROCESS_TPU);
    (void)state;
    op(&r, shaped("fusion.1", "f32[8]{0}", "a"), 300);
    op(&r, shaped("fusion.2", "f32[8]{0:T(256)}", "b"), 100);
    op(&r, shaped("fusion.2", "f32[8]{0:T(256)}", "b"), 500);
    op(&r, shaped("fusion.3", "f32[16]", "c"), 50);
    op(&r, shaped("dot.1", "f32[4]", "x"), 70);
    op(&r, shaped("dot.2", "f32[4]", "y"), 60);
    op(&r, shaped("mul.1", "f32[4]", "x"), 10);
    op(&r, shaped("mul.2", "f32[8]", "x"), 10);
    op(&r, shaped("add.1", "f32[4]", "x"), 100);
    tm_analyze(&r.h, r.t);
    const vp_op *fusion = op_named(&r.h, "fusion"), *dot = op_named(&r.h, "dot");
    assert_int_equal(fusion->split_count, 2);
    assert_string_equal(fusion->splits[0].label, "f32[8]");
    assert_int_equal(fusion->splits[0].calls, 3);
    assert_int_equal(fusion->splits[0].self_ps, 900 * US);
    assert_int_equal(fusion->splits[0].max_ps, 500 * US);
    assert_string_equal(fusion->splits[0].scope, "b");
    /* 100, 300, 500: population deviation sqrt(80000 / 3) = 163.299… */
    assert_true(fusion->splits[0].stddev_ps > 163.299 * US &&
                fusion->splits[0].stddev_ps < 163.300 * US);
    assert_string_equal(fusion->splits[1].label, "f32[16]");
    assert_int_equal(dot->split_count, 2);
    assert_string_equal(dot->splits[0].label, "x");
    assert_string_equal(dot->splits[1].label, "y");
    assert_int_equal(op_named(&r.h, "mul")->split_count, 0);
    assert_int_equal(op_named(&r.h, "add")->split_count, 0);
    tm_free(&r.h, r.t);
}

/* Calls of one shape that differ in time by where their result lies: parts by layout, beside
 * another shape and alone; not where the times are close (100 and 110) however well the layout
 * tells them. */
static void a_layout_that_takes_longer_is_another_part(void **state)
{
    rig r = make(SINK_PROCESS_TPU);
    (void)state;
    op(&r, shaped("fusion.1", "f32[8]{0:S(1)}", "a"), 200);
    op(&r, shaped("fusion.2", "f32[8]{0}", "a"), 41);
    op(&r, shaped("fusion.3", "f32[8]{0}", "a"), 39);
    op(&r, shaped("fusion.1", "f32[8]{0:S(1)}", "a"), 210);
    op(&r, shaped("fusion.4", "f32[16]", "a"), 20);
    op(&r, shaped("dot.1", "f32[4]{0:S(1)}", "x"), 250);
    op(&r, shaped("dot.2", "f32[4]{0}", "x"), 50);
    op(&r, shaped("add.1", "f32[4]{0:S(1)}", "x"), 110);
    op(&r, shaped("add.2", "f32[4]{0}", "x"), 100);
    tm_analyze(&r.h, r.t);
    const vp_op *fusion = op_named(&r.h, "fusion"), *dot = op_named(&r.h, "dot");
    assert_int_equal(fusion->split_count, 3);
    assert_string_equal(fusion->splits[0].label, "f32[8]{0:S(1)}");
    assert_int_equal(fusion->splits[0].calls, 2);
    assert_int_equal(fusion->splits[0].self_ps, 410 * US);
    assert_true(fusion->splits[0].stddev_ps == 5.0 * US);
    assert_string_equal(fusion->splits[1].label, "f32[8]{0}");
    assert_int_equal(fusion->splits[1].calls, 2);
    assert_int_equal(fusion->splits[1].self_ps, 80 * US);
    assert_string_equal(fusion->splits[2].label, "f32[16]");
    assert_int_equal(dot->split_count, 2);
    assert_string_equal(dot->splits[0].label, "f32[4]{0:S(1)}");
    assert_string_equal(dot->splits[1].label, "f32[4]{0}");
    assert_int_equal(op_named(&r.h, "add")->split_count, 0);
    tm_free(&r.h, r.t);
}

static sink_kind placed(const char *name, const char *scope, const char *source)
{
    sink_kind k = hlo(name, "loop fusion", scope);
    k.source = vp_str_of(source);
    return k;
}

/* The longest raw op of a group is one call of "logits"; the layers' are shorter, and more. Their
 * source is the one most of their time has, not the one that most of the group's has. */
static void a_group_stands_where_most_of_its_time_does(void **state)
{
    rig r = make(SINK_PROCESS_TPU);
    (void)state;
    op(&r, placed("fusion.9", "logits", "head.py:1"), 290);
    op(&r, placed("fusion.8", "logits", "head.py:1"), 10);
    op(&r, placed("fusion.1", "layer", "a.py:1"), 110);
    op(&r, placed("fusion.2", "layer", "b.py:2"), 100);
    op(&r, placed("fusion.3", "layer", "b.py:2"), 105);
    op(&r, placed("fusion.4", "", ""), 50);
    op(&r, placed("dot.1", "y", "c.py:1"), 70);
    op(&r, placed("dot.2", "x", "c.py:1"), 70);
    op(&r, placed("add.1", "", ""), 90);
    op(&r, placed("add.2", "z", "d.py:1"), 80);
    tm_analyze(&r.h, r.t);
    const vp_op *fusion = op_named(&r.h, "fusion"), *dot = op_named(&r.h, "dot");
    assert_string_equal(fusion->scope, "layer");
    assert_string_equal(fusion->source, "b.py:2");
    assert_int_equal(fusion->scopes, 2);
    assert_int_equal(fusion->sources, 3);
    assert_string_equal(dot->scope, "x"); /* equals by text, in any order of the file */
    assert_int_equal(dot->scopes, 2);
    assert_int_equal(dot->sources, 1);
    assert_null(op_named(&r.h, "add")->scope);
    assert_int_equal(op_named(&r.h, "add")->scopes, 1);
    tm_free(&r.h, r.t);
}

/* ---- Scopes ---- */

static void fold_is(const char *path, const char *want)
{
    vp_buf b;
    vp_buf_init(&b, 4096);
    assert_int_equal(scope_fold(&b, vp_str_of(path)), 0);
    assert_string_equal(vp_buf_cstr(&b), want);
    vp_buf_free(&b);
}

static void paths_fold_onto_the_forward_pass(void **state)
{
    (void)state;
    fold_is("jit(step)/dense_1/dot_general", "jit(step)/dense_1");
    fold_is("jit(step)/jvp(dense_1)/dot_general", "jit(step)/dense_1");
    fold_is("jit(step)/transpose(jvp(dense_1))/mul", "jit(step)/dense_1");
    fold_is("jit(f)/transpose(jvp(checkpoint))/rematted_computation/blk/mul", "jit(f)/blk");
    fold_is("jit(f)/transpose(jvp())/mul", "jit(f)");
    fold_is("jit(f)/jvp(jit(a/b))/max", "jit(f)/jit(a/b)");
    fold_is("gradient_tape/model/dense/MatMul", "model/dense");
    fold_is("jit(f)/transpose", "jit(f)");
    fold_is("kernel", "kernel");
    fold_is("transpose(jvp())/mul", "mul");
    assert_true(scope_is_backward(VP_STR("jit(f)/transpose(jvp(a))/mul")));
    assert_false(scope_is_backward(VP_STR("jit(f)/a/transpose")));
    assert_false(scope_is_backward(VP_STR("jit(f)/jvp(a)/mul")));
}

static const vp_scope *scope(const vp_scope *v, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(v[i].path, path))
            return &v[i];
    fail_msg("no scope %s", path);
    return NULL;
}

/* Forward 3, backward 5, rematerialised 7 for one layer; 11 elsewhere. */
static rig layered(void)
{
    rig r = make(SINK_PROCESS_TPU);
    sink_kind forward = hlo("dot.1", "loop fusion", "jit(f)/jvp(layer)/dot");
    sink_kind back = hlo("dot.2", "loop fusion", "jit(f)/transpose(jvp(layer))/dot");
    sink_kind remat =
        hlo("dot.3", "loop fusion", "jit(f)/transpose(jvp(layer))/rematted_computation/dot");
    sink_kind other = hlo("add.1", "loop fusion", "jit(f)/loss/add");
    forward.bytes = 10;
    forward.flops = 1000;
    forward.source = VP_STR("model.py:1");
    remat.bytes = 5;
    other.source = VP_STR("loss.py:2");
    op(&r, forward, 1);
    op(&r, forward, 2);
    op(&r, back, 5);
    op(&r, remat, 7);
    op(&r, other, 11);
    tm_analyze(&r.h, r.t);
    return r;
}

static void scopes_sum_up_their_subtrees(void **state)
{
    rig r = layered();
    vp_scope *v = NULL;
    size_t n = 0;
    vp_arena arena;
    (void)state;
    vp_arena_init(&arena);
    assert_int_equal(scopes_tree(&v, &n, &arena, r.h.scopes, r.h.scope_count), 0);
    const vp_scope *root = scope(v, n, "jit(f)");
    assert_int_equal(root->total_ps, 26 * US);
    assert_int_equal(root->self_ps, 0);
    assert_int_equal(root->calls, 5);
    assert_int_equal(root->bytes, 25);
    assert_int_equal(root->flops, 2000);
    assert_int_equal(root->backward_ps, 5 * US);
    assert_int_equal(root->remat_ps, 7 * US);
    assert_string_equal(root->source, "loss.py:2");
    const vp_scope *layer = scope(v, n, "jit(f)/jvp(layer)");
    assert_int_equal(layer->bytes, 20);
    assert_int_equal(layer->backward_ps, 0);
    assert_string_equal(layer->source, "model.py:1");
    const vp_scope *loss = scope(v, n, "jit(f)/loss");
    assert_int_equal(loss->bytes, VP_UNKNOWN);
    assert_int_equal(loss->flops, VP_UNKNOWN);
    vp_arena_free(&arena);
    tm_free(&r.h, r.t);
}

static void a_tree_gives_its_items_back(void **state)
{
    rig r = layered();
    vp_scope *v = NULL, *again = NULL;
    size_t n = 0, m = 0;
    vp_arena arena;
    (void)state;
    vp_arena_init(&arena);
    assert_int_equal(scopes_tree(&v, &n, &arena, r.h.scopes, r.h.scope_count), 0);
    scope_item *items = vp_arena_alloc(&arena, n * sizeof *items);
    scopes_items(items, v, n);
    assert_int_equal(scopes_tree(&again, &m, &arena, items, n), 0);
    assert_int_equal(m, n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(again[i].path, v[i].path);
        assert_string_equal(again[i].source ? again[i].source : "-",
                            v[i].source ? v[i].source : "-");
        assert_int_equal(again[i].self_ps, v[i].self_ps);
        assert_int_equal(again[i].total_ps, v[i].total_ps);
        assert_int_equal(again[i].calls, v[i].calls);
        assert_int_equal(again[i].bytes, v[i].bytes);
        assert_int_equal(again[i].flops, v[i].flops);
        assert_int_equal(again[i].backward_ps, v[i].backward_ps);
        assert_int_equal(again[i].remat_ps, v[i].remat_ps);
    }
    vp_arena_free(&arena);
    tm_free(&r.h, r.t);
}

static void all_work_of_a_layer_is_one_row(void **state)
{
    rig r = layered();
    vp_folded_scope *f = NULL;
    size_t n = 0;
    vp_arena arena;
    (void)state;
    vp_arena_init(&arena);
    assert_int_equal(scopes_fold(&f, &n, &arena, r.h.scopes, r.h.scope_count), 0);
    assert_int_equal(n, 2);
    assert_string_equal(f[0].path, "jit(f)/layer");
    assert_int_equal(f[0].forward_ps, 3 * US);
    assert_int_equal(f[0].backward_ps, 5 * US);
    assert_int_equal(f[0].remat_ps, 7 * US);
    assert_int_equal(f[0].calls, 4);
    assert_int_equal(f[1].forward_ps, 11 * US);
    vp_arena_free(&arena);
    tm_free(&r.h, r.t);
}

/* vLLM on TPU (docs/reference/metrics.md#sample-profiles): data formatting 1,461.7 us, pad 90.9 us,
 * of which 64 kernels are attention; the 129 all-reduces part into 128 of the linear layers and one
 * of the embedding. */
static void vllm_tpu(void **state)
{
    host_result h;
    (void)state;
    tm_real(&h, "jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/"
                "2026_01_11_21_26_41/t1v-n-9eb622fc-w-0.trace.json.gz");
    const vp_hygiene *y = &h.devices[0].hygiene;
    assert_int_equal(y->formatting_ps, 1461677049);
    assert_int_equal(y->padding_ps, 90852342);
    assert_int_equal(y->remat_ps, 0);
    const vp_op *reduce = op_named(&h, "all-reduce");
    assert_int_equal(reduce->split_count, 2);
    assert_int_equal(reduce->splits[0].calls, 128);
    assert_int_equal(reduce->splits[1].calls, 1);
    assert_int_equal(reduce->splits[0].self_ps + reduce->splits[1].self_ps, reduce->self_ps);
    host_result_free(&h);
}

/* jax_cpu: 20 training steps of three dense layers, forward and back. */
static void mnist_goes_forward_and_back(void **state)
{
    host_result h;
    vp_folded_scope *f = NULL;
    size_t n = 0, seen = 0;
    int64_t sum = 0;
    vp_arena arena;
    (void)state;
    tm_real(&h, "jax_cpu/mnist_train/plugins/profile/2026_11_21_06_33_16/vm.xplane.pb");
    vp_arena_init(&arena);
    assert_int_equal(scopes_fold(&f, &n, &arena, h.scopes, h.scope_count), 0);
    for (size_t i = 0; i < n; i++) {
        sum += f[i].forward_ps + f[i].backward_ps + f[i].remat_ps;
        seen += strstr(f[i].path, "/dense_") && f[i].backward_ps > 0 && f[i].forward_ps > 0;
        assert_null(strstr(f[i].path, "jvp("));
    }
    assert_int_equal(sum, h.devices[0].self_ps);
    assert_int_equal(seen, 3);
    vp_arena_free(&arena);
    host_result_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tpu_ops_fall_into_their_kinds),
        cmocka_unit_test(gpu_kernels_by_name_or_instruction),
        cmocka_unit_test(small_ops_in_a_row_are_a_chain),
        cmocka_unit_test(large_groups_come_apart),
        cmocka_unit_test(a_layout_that_takes_longer_is_another_part),
        cmocka_unit_test(a_group_stands_where_most_of_its_time_does),
        cmocka_unit_test(paths_fold_onto_the_forward_pass),
        cmocka_unit_test(scopes_sum_up_their_subtrees),
        cmocka_unit_test(a_tree_gives_its_items_back),
        cmocka_unit_test(all_work_of_a_layer_is_one_row),
        cmocka_unit_test(vllm_tpu),
        cmocka_unit_test(mnist_goes_forward_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
