/* trace/analyze/compile: the example by hand, what compiles late, whose thread it is, and the
 * golden counts of docs/reference/metrics.md#sample-profiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/trace_maker.h"

typedef struct rig {
    trace *t;
    uint32_t main, pool, ops, modules;
    host_result h;
} rig;

static rig make(void)
{
    rig r = {.t = tm_new()};
    uint32_t host = tm_process(r.t, SINK_PROCESS_HOST, "/host:CPU", 1);
    uint32_t device = tm_process(r.t, SINK_PROCESS_TPU, "/device:TPU:0", 0);
    r.main = tm_track(r.t, host, "python", SINK_ROLE_PLAIN);
    r.pool = tm_track(r.t, host, "pool", SINK_ROLE_PLAIN);
    r.ops = tm_track(r.t, device, "XLA Ops", SINK_ROLE_OPS);
    r.modules = tm_track(r.t, device, "XLA Modules", SINK_ROLE_MODULES);
    return r;
}

static const vp_function *function(const host_result *h, const char *name)
{
    for (size_t i = 0; i < h->compile.function_count; i++)
        if (!strcmp(h->compile.functions[i].name, name))
            return &h->compile.functions[i];
    fail_msg("no function %s", name);
    return NULL;
}

/* A6: PjitFunction(f) [0,40) holds one of its own name [1,39): one call. Its compile root [5,25)
 * holds another: one compile of 20. Lowering [2,5) and [24,27): 3 + 2 outside of compilation. */
static void outermost_spans_count(void **state)
{
    rig r = make();
    (void)state;
    tm_put(r.t, r.main, "step", 0, 100);
    tm_put(r.t, r.main, "PjitFunction(f)", 0, 40);
    tm_put(r.t, r.main, "PjitFunction(f)", 1, 39);
    tm_put(r.t, r.main, "lower_sharding_computation", 2, 5);
    tm_put(r.t, r.main, "backend_compile_and_load", 5, 25);
    tm_put(r.t, r.main, "PjRtCApiClient::Compile", 6, 24);
    tm_put(r.t, r.main, "lower_jaxpr_to_module", 24, 27);
    tm_put(r.t, r.main, "PjitFunction(f)", 50, 60);
    tm_put(r.t, r.main, "PjitFunction(g)", 52, 55);
    tm_analyze(&r.h, r.t);
    const vp_compile *c = &r.h.compile;
    assert_int_equal(c->count, 1);
    assert_int_equal(c->total_ps, 20);
    assert_int_equal(c->lower_ps, 5);
    assert_int_equal(c->late, 0);
    assert_int_equal(c->before_steps_ps, 20);
    assert_int_equal(c->cache_hits, VP_UNKNOWN);
    assert_int_equal(c->function_count, 2);
    assert_int_equal(function(&r.h, "f")->calls, 2);
    assert_int_equal(function(&r.h, "f")->compiles, 1);
    assert_int_equal(function(&r.h, "f")->total_ps, 20);
    assert_int_equal(function(&r.h, "f")->repeat_ps, 0);
    assert_int_equal(function(&r.h, "f")->first_start_ps, 5);
    assert_int_equal(function(&r.h, "g")->calls, 1);
    assert_int_equal(function(&r.h, "g")->compiles, 0);
    assert_int_equal(function(&r.h, "g")->first_start_ps, VP_NO_TIME);
    tm_free(&r.h, r.t);
}

static void compiled_call(rig *r, const char *call, int64_t start, int64_t end)
{
    tm_put(r->t, r->main, call, start, end);
    tm_put(r->t, r->main, "backend_compile", start + 1, end - 1);
}

/* The first run of jit_f, which runs longest, ends at 200: the compilations at 150 (of g, while f
 * runs) is not late, those at 300 are; that jit_init has run before does not matter. */
static void late_is_after_the_first_run_of_the_main_module(void **state)
{
    rig r = make();
    (void)state;
    tm_put(r.t, r.modules, "jit_init(1)", 10, 12);
    tm_put(r.t, r.modules, "jit_f(2)", 120, 200);
    tm_put(r.t, r.modules, "jit_f(2)", 400, 480);
    tm_put(r.t, r.ops, "fusion", 10, 12);
    compiled_call(&r, "PjitFunction(f)", 50, 62);
    compiled_call(&r, "PjitFunction(g)", 150, 172);
    compiled_call(&r, "PjitFunction(f)", 300, 332);
    compiled_call(&r, "PjitFunction(f)", 340, 344);
    tm_analyze(&r.h, r.t);
    const vp_compile *c = &r.h.compile;
    assert_int_equal(c->count, 4);
    assert_int_equal(c->total_ps, 10 + 20 + 30 + 2);
    assert_int_equal(c->late, 2);
    assert_int_equal(c->late_ps, 32);
    assert_int_equal(c->before_steps_ps, 10); /* jit_f's first run is the first step, at 120 */
    const vp_function *f = function(&r.h, "f");
    assert_int_equal(f->compiles, 3);
    assert_int_equal(f->repeat_ps, 32);
    assert_int_equal(f->late, 2);
    assert_int_equal(f->late_ps, 32);
    assert_int_equal(f->first_start_ps, 51);
    assert_int_equal(f->first_dur_ps, 10);
    assert_int_equal(f->last_start_ps, 341);
    assert_int_equal(f->last_dur_ps, 2);
    assert_string_equal(c->functions[0].name, "f"); /* by compile time */
    tm_free(&r.h, r.t);
}

/* An annotated step [40, 240) calls f, whose first call compiles inside it, after the run of a
 * helper that every step calls; what the second step [240, 400) compiles is late. */
static void the_first_step_compiles(void **state)
{
    rig r = make();
    (void)state;
    for (int64_t at = 40; at < 300; at += 200) {
        tm_put(r.t, r.main, "StepTraceAnnotation", at, at + 200);
        tm_put(r.t, r.modules, "jit_scale(1)", at + 1, at + 3);
        tm_put(r.t, r.modules, "jit_f(2)", at + 120, at + 180);
        tm_put(r.t, r.ops, "multiply", at + 1, at + 3);
        tm_put(r.t, r.ops, "fusion", at + 120, at + 180);
    }
    compiled_call(&r, "PjitFunction(f)", 50, 152);
    compiled_call(&r, "PjitFunction(g)", 250, 262);
    tm_analyze(&r.h, r.t);
    const vp_compile *c = &r.h.compile;
    assert_int_equal(c->total_ps, 100 + 10);
    assert_int_equal(c->before_steps_ps, 100);
    assert_int_equal(c->late_ps, 10);
    assert_int_equal(function(&r.h, "f")->late, 0);
    assert_int_equal(function(&r.h, "g")->late, 1);
    tm_free(&r.h, r.t);
}

/* On CPU and GPU a run is known by its ops: those with the run id of the module's first op. */
static void runs_are_told_by_their_ops(void **state)
{
    rig r = make();
    sink_extra first = {0}, second = {0};
    sink_kind op = tm_plain("dot");
    (void)state;
    op.module = VP_STR("jit_f");
    sink_extra_set(&first, SINK_RUN, 71);
    sink_extra_set(&second, SINK_RUN, 72);
    tm_event(r.t, r.ops, op, 100, 110, &first);
    tm_event(r.t, r.ops, op, 150, 160, &first);
    tm_event(r.t, r.ops, op, 300, 310, &second);
    compiled_call(&r, "PjitFunction(g)", 120, 130);
    compiled_call(&r, "PjitFunction(h)", 170, 180);
    tm_analyze(&r.h, r.t);
    assert_int_equal(function(&r.h, "g")->late, 0);
    assert_int_equal(function(&r.h, "h")->late, 1);
    tm_free(&r.h, r.t);
}

/* What a compiler's own threads do lies inside the root that waits for it; a thread that calls
 * functions is no such helper, and a lone root elsewhere counts. */
static void helper_threads_are_a_part(void **state)
{
    rig r = make();
    (void)state;
    compiled_call(&r, "PjitFunction(f)", 0, 102);            /* [1,101) */
    tm_put(r.t, r.pool, "PjRtCpuClient::Compile", 10, 90);   /* in there */
    tm_put(r.t, r.pool, "JitCompiler::Compile", 95, 100);    /* this, too */
    tm_put(r.t, r.pool, "TfrtCpuClient::Compile", 200, 210); /* nobody waits */
    tm_analyze(&r.h, r.t);
    assert_int_equal(r.h.compile.count, 2);
    assert_int_equal(r.h.compile.total_ps, 110);
    assert_int_equal(r.h.compile.function_count, 1);
    tm_free(&r.h, r.t);

    r = make();
    compiled_call(&r, "PjitFunction(f)", 0, 102);
    tm_put(r.t, r.pool, "PjitFunction(g)", 9, 91);
    tm_put(r.t, r.pool, "backend_compile", 10, 90);
    tm_analyze(&r.h, r.t);
    assert_int_equal(r.h.compile.count, 2);
    assert_int_equal(r.h.compile.total_ps, 180);
    tm_free(&r.h, r.t);
}

/* The persistent cache: two reads, one of which found nothing and compiled. */
static void the_cache_is_counted(void **state)
{
    rig r = make();
    (void)state;
    tm_put(r.t, r.main, "PjitFunction(f)", 0, 50);
    tm_put(r.t, r.main, "$compiler.py:1 compile_or_get_cached", 1, 49);
    tm_put(r.t, r.main, "$compiler.py:2 _cache_read", 2, 5);
    tm_put(r.t, r.main, "$compiler.py:3 _compile_and_write_cache", 6, 48);
    tm_put(r.t, r.main, "PjitFunction(g)", 60, 90);
    tm_put(r.t, r.main, "$compiler.py:1 compile_or_get_cached", 61, 69);
    tm_put(r.t, r.main, "$compiler.py:2 _cache_read", 62, 65);
    tm_analyze(&r.h, r.t);
    assert_int_equal(r.h.compile.cache_hits, 1);
    assert_int_equal(r.h.compile.cache_misses, 1);
    assert_int_equal(function(&r.h, "f")->cache_hits, 0);
    assert_int_equal(function(&r.h, "g")->cache_hits, 1);
    tm_free(&r.h, r.t);
}

/* 2.5: 8 matching spans, 4 outermost, 1,528.924 ms, 1,800.589 with tracing and lowering; f is
 * called 100 times, _psum 3, add 3, _reduce_sum 1; no function compiles twice. */
static void real_tpu(void **state)
{
    static const struct {
        const char *name;
        int64_t compiles, calls;
    } want[] = {{"convert_element_type", 1, 1},
                {"broadcast_in_dim", 1, 1},
                {"_psum", 1, 3},
                {"f", 1, 100},
                {"add", 0, 3},
                {"_reduce_sum", 0, 1}};
    const int64_t us = 1000000;
    host_result h;
    (void)state;
    tm_real(&h, V2_TPU);
    assert_int_equal(h.compile.count, 4);
    assert_int_equal(h.compile.total_ps / us, 1528924);
    assert_int_equal((h.compile.total_ps + h.compile.lower_ps) / us, 1800589);
    assert_int_equal(h.compile.late, 0);
    assert_int_equal(h.compile.function_count, sizeof want / sizeof *want);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_int_equal(function(&h, want[i].name)->compiles, want[i].compiles);
        assert_int_equal(function(&h, want[i].name)->calls, want[i].calls);
        assert_int_equal(function(&h, want[i].name)->repeat_ps, 0);
    }
    host_result_free(&h);
}

/* The program changes its shape in steps 0, 3, 6 and 9; the first is compiled before the capture:
 * three late compilations of the function, and three of the fill that makes its argument. */
static void real_late_compilations(void **state)
{
    host_result h;
    (void)state;
    tm_real(&h, "jax_cpu/recompile/plugins/profile/2026_11_21_06_33_18/vm.xplane.pb");
    assert_int_equal(h.compile.count, 6);
    assert_int_equal(h.compile.late, 6);
    assert_int_equal(h.compile.late_ps, h.compile.total_ps);
    assert_int_equal(function(&h, "changing_shape")->compiles, 3);
    assert_int_equal(function(&h, "changing_shape")->calls, 12);
    assert_int_equal(function(&h, "broadcast_in_dim")->compiles, 3);
    host_result_free(&h);
}

static void real_compilation_before_the_steps(void **state)
{
    host_result h;
    (void)state;
    tm_real(&h, "jax_cpu/python_tracer_small/plugins/profile/2026_11_21_06_33_31/vm.xplane.pb");
    assert_int_equal(h.compile.count, 1);
    assert_int_equal(h.compile.late, 0);
    assert_int_equal(h.compile.before_steps_ps, h.compile.total_ps);
    assert_int_equal(function(&h, "train_step")->compiles, 1);
    host_result_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outermost_spans_count),
        cmocka_unit_test(late_is_after_the_first_run_of_the_main_module),
        cmocka_unit_test(the_first_step_compiles),
        cmocka_unit_test(runs_are_told_by_their_ops),
        cmocka_unit_test(helper_threads_are_a_part),
        cmocka_unit_test(the_cache_is_counted),
        cmocka_unit_test(real_tpu),
        cmocka_unit_test(real_late_compilations),
        cmocka_unit_test(real_compilation_before_the_steps),
    };
    return cmocka_run_group_tests_name("compile", tests, NULL, NULL);
}
