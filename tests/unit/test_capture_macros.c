/* What each recording macro leaves in the image, one by one. */
#include <ucontext.h>

#include "tests/unit/capture_tools.h"

static void scopes_on_one_line(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    {
        VP_SCOPE("a");
        VP_SCOPE("b");
        VP_SCOPE("a");
    } /* clang-format off */
    vp_result result = VP_RESULT_INIT; /* clang-format on */
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 3);
    assert_int_equal(seen.event_count, 3);
    /* they end in the reverse of their order, and each lies in the one before */
    assert_string_equal(seen.events[0].name, "a");
    assert_string_equal(seen.events[1].name, "b");
    assert_string_equal(seen.events[2].name, "a");
    assert_true(seen.events[2].e.start_ps <= seen.events[1].e.start_ps);
    assert_true(seen.events[1].e.start_ps <= seen.events[0].e.start_ps);
    assert_true(seen.events[2].e.start_ps + seen.events[2].e.dur_ps >=
                seen.events[0].e.start_ps + seen.events[0].e.dur_ps);
}

static int square(int x)
{
    VP_FUNC();
    return x * x;
}

static int touched;

static void touch(int x)
{
    touched += x;
}

VP_WRAP(int, wrapped_square, square, (int x), (x))

static void values_pass_through_wrappers(void **state)
{
    (void)state;
    touched = 0;
    assert_int_equal(wrapped_square(3), 9); /* off: the same */
    vp_recording *r = here_start();
    assert_int_equal(VP_CALL(square(5)), 25);
    assert_int_equal(wrapped_square(4), 16);
    VP_CALL_VOID(touch(2));
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(touched, 2);
    assert_int_equal(seen.event_count, 5);
    assert_int_equal(seen_count("square"), 3); /* twice the function, once its wrapper */
    assert_int_equal(seen_count("square(5)"), 1);
    assert_int_equal(seen_count("touch(2)"), 1);
}

static void args_keep_their_types(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    for (int i = 0; i < 2; i++) {
        VP_SCOPE_ARGS("copy", VP_I64("bytes", INT64_MIN + i), VP_F64("loss", 0.25),
                      vp__arg_str("shape", i ? "" : "f32[128,1024]{1,0}"));
    }
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.event_count, 2);
    assert_string_equal(seen.events[0].arg_text,
                        "bytes=-9223372036854775808;loss=0.25;shape=f32[128,1024]{1,0};");
    assert_string_equal(seen.events[1].arg_text, "bytes=-9223372036854775807;loss=0.25;shape=;");
    assert_int_equal(seen.events[0].e.name, seen.events[1].e.name);
}

/* 15 strings of 10,000 bytes do not fit into a record: each is cut, none is lost, and what follows
 * is intact. NULL is a string, too. */
static void strings_too_long_are_cut(void **state)
{
    (void)state;
    static char text[10001];
    memset(text, 'x', 10000);
    vp_recording *r = here_start();
    {
        VP_SCOPE_ARGS("long", vp__arg_str("a", text), vp__arg_str("b", text), VP_I64("n", 7),
                      vp__arg_str("none", NULL));
    }
    {
        VP_SCOPE("after");
    }
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.event_count, 2);
    assert_int_equal(seen.events[0].e.arg_count, 4);
    assert_memory_equal(seen.events[0].arg_text, "a=xxxxxxxx", 10);
    assert_string_equal(seen.events[1].name, "after");
}

static void steps_compiles_launches(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    for (uint64_t i = 41; i < 43; i++) {
        VP_STEP("train", i);
        VP_LAUNCH("launch", 77);
        VP_COMPILE_SCOPE("jit_train_step");
    }
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.event_count, 6);
    assert_int_equal(seen.events[2].e.kind, VPCAP_STEP);
    assert_int_equal(seen.events[2].e.number, 41);
    assert_int_equal(seen.events[5].e.number, 42);
    assert_int_equal(seen_find("launch")->e.correlation, 77);
    assert_int_equal(seen_find("jit_train_step")->e.kind, VPCAP_COMPILE);
    assert_string_equal(seen_find("jit_train_step")->category, "compile");
}

static void counters_and_instants(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    VP_COUNTER("queue", -5);
    VP_COUNTER_F("loss", 0.125);
    VP_INSTANT("epoch");
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.event_count, 3);
    assert_int_equal(seen.events[0].e.kind, VPCAP_COUNTER);
    assert_int_equal(seen.events[0].e.number, -5);
    assert_false(seen.events[0].e.is_real);
    assert_true(seen.events[1].e.is_real);
    assert_true(seen.events[1].e.real == 0.125);
    assert_int_equal(seen.events[2].e.kind, VPCAP_INSTANT);
    assert_int_equal(seen.events[2].e.dur_ps, 0);
}

/* A flow belongs to the innermost zone around it, also when inner zones ended before it. */
static void flows_find_their_zone(void **state)
{
    (void)state;
    uint64_t first = vp_flow_new(), second = vp_flow_new();
    assert_true(first && second && first != second);
    vp_recording *r = here_start();
    {
        VP_SCOPE("outer");
        {
            VP_SCOPE("before");
        }
        VP_FLOW_IN(first);
        {
            VP_SCOPE("inner");
            VP_FLOW_OUT(second);
        }
    }
    VP_FLOW_OUT(first); /* outside of any zone: it is there by itself */
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 3);
    assert_int_equal(seen.event_count, 4);
    assert_int_equal(seen_find("before")->e.flow_in, 0);
    assert_int_equal(seen_find("inner")->e.flow_out, second);
    assert_int_equal(seen_find("inner")->e.flow_in, 0);
    assert_int_equal(seen_find("outer")->e.flow_in, first);
    assert_int_equal(seen_find("outer")->e.flow_out, 0);
    assert_int_equal(seen_find("flow")->e.flow_out, first);
}

static void names_made_at_run_time(void **state)
{
    (void)state;
    static char longest[10001];
    memset(longest, 'n', 10000);
    uint32_t hash = vp_name("all#reduce=1,2#"), none = vp_name(NULL), empty = vp_name(""),
             too_long = vp_name(longest);
    assert_true(hash && none && empty && too_long);
    assert_int_equal(vp_name("all#reduce=1,2#"), hash);
    assert_int_not_equal(none, empty);
    vp_recording *r = here_start();
    {
        VP_SCOPE_DYN(hash);
        VP_SCOPE_DYN(none);
        VP_SCOPE_DYN(too_long);
        VP_SCOPE(NULL);
    }
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 4);
    assert_int_equal(seen_count("all#reduce=1,2#"), 1);
    assert_int_equal(seen_count("(null)"), 2);
    assert_int_equal(strlen(seen.events[1].name), sizeof seen.events[1].name - 1);
}

/* A zone whose name is none is not lost, and no pool was full. */
static void a_name_that_is_none_loses_no_zone(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    {
        VP_SCOPE("there");
        VP_SCOPE_DYN(0);
        VP_SCOPE_DYN(UINT32_MAX);
        cap_begun nameless;
        cap_begin(&nameless, 0, false, 0);
        cap_end(&nameless);
    }
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 4);
    assert_int_equal(seen_count("(no name)"), 3);
    assert_int_equal(result.dropped_full, 0);
}

static void levels_above_are_left_out(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    cfg.level = VP_LEVEL_USER;
    for (unsigned level = VP_LEVEL_USER; level <= VP_LEVEL_VERBOSE; level++) {
        cfg.level = level;
        assert_int_equal(vp_start(&r, &cfg), 0);
        {
            VP_SCOPE_LEVEL(VP_LEVEL_USER, "user");
            VP_SCOPE_LEVEL(VP_LEVEL_INFO, "info");
            VP_SCOPE_LEVEL(VP_LEVEL_VERBOSE, "verbose");
        }
        assert_int_equal(vp_stop(r, NULL), 0);
        assert_int_equal(seen.event_count, level);
    }
}

static void pairs_65_deep(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    for (int i = 0; i < 65; i++)
        VP_BEGIN("pair");
    for (int i = 0; i < 65; i++)
        VP_END();
    VP_END();
    VP_END();
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 64);
    assert_int_equal(result.dropped_depth, 1);
    assert_int_equal(result.unmatched_ends, 2);
    assert_int_equal(seen.event_count, 64);
    for (int i = 1; i < 64; i++) /* innermost first */
        assert_true(seen.events[i].e.start_ps <= seen.events[i - 1].e.start_ps);
}

static void nest(int depth)
{
    VP_SCOPE("nested");
    if (depth > 1)
        nest(depth - 1);
}

/* Scopes keep their own start: only the list of open ones has an end. */
static void scopes_200_deep(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    nest(200);
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 200);
    assert_int_equal(result.dropped_depth, 0);
}

static void pairs_and_scopes_may_cross(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    {
        VP_SCOPE("scope");
        VP_BEGIN("pair");
    }
    {
        VP_SCOPE("other");
        VP_END();
    }
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 3);
    assert_int_equal(result.unmatched_ends, 0);
    assert_string_equal(seen.events[0].name, "scope");
    assert_string_equal(seen.events[1].name, "pair");
    assert_string_equal(seen.events[2].name, "other");
}

/* A zone that began before the start, or has not ended at the stop, is none of this recording. */
static void only_zones_within_count(void **state)
{
    (void)state;
    vp_recording *r;
    {
        VP_SCOPE("before");
        r = here_start();
        VP_SCOPE("across");
        assert_int_equal(vp_stop(r, NULL), 0);
        assert_int_equal(seen.event_count, 0);
        r = here_start();
    }
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 0);
    assert_int_equal(seen.event_count, 0);
}

static void correlations_nest(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    uint32_t outer = vp_correlation_push(), inner;
    {
        VP_SCOPE("outer");
    }
    inner = vp_correlation_push();
    {
        VP_SCOPE("inner");
    }
    vp_correlation_pop();
    {
        VP_SCOPE("outer again");
    }
    vp_correlation_pop();
    vp_correlation_pop(); /* one too many */
    {
        VP_SCOPE("none");
    }
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_true(outer && inner && outer != inner);
    assert_int_equal(seen_find("outer")->e.correlation, outer);
    assert_int_equal(seen_find("inner")->e.correlation, inner);
    assert_int_equal(seen_find("outer again")->e.correlation, outer);
    assert_int_equal(seen_find("none")->e.correlation, 0);
}

static void devices_tracks_and_spans(void **state)
{
    (void)state;
    vp_device_id gpu = vp_device_add(VP_CAPTURE_GPU, 0, "H200");
    vp_track_id stream = vp_track_add(gpu, "Stream #7(compute)");
    assert_int_equal(vp_device_add(VP_CAPTURE_GPU, 0, "H200"), gpu);
    assert_int_equal(vp_track_add(gpu, "Stream #7(compute)"), stream);
    vp_recording *r = here_start();
    vp_track_id late = vp_track_add(vp_device_add(VP_CAPTURE_TPU, 1, "v5e"), "XLA Ops");
    vp_arg args[] = {vp__arg_i64("flops", 1000), vp__arg_str("scope", "layer1")};
    uint64_t t = vp_now();
    assert_int_equal(vp_record_span(stream, vp_name("fusion.1"), t, t + 1000000, 9, args, 2), 0);
    assert_int_equal(vp_record_transfer(late, VP_COPY_H2D, 4096, t, t, 0, 1, 9), 0);
    assert_int_equal(
        vp_record_collective(late, VP_ALL_REDUCE, 64, 2, 1, 4, t, t + 10, UINT64_C(1) << 40), 0);
    assert_int_equal(vp_record_span(0, vp_name("x"), t, t, 0, NULL, 0), VP_EARG);
    assert_int_equal(vp_record_span(stream, 0, t, t, 0, NULL, 0), VP_EARG);
    assert_int_equal(vp_record_span(stream, vp_name("x"), t, t - 1, 0, NULL, 0), VP_EARG);
    assert_int_equal(vp_record_collective(late, VP_SEND, 1, 0, 4, 4, t, t, 1), VP_EARG);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.device_count, 2);
    assert_int_equal(seen.track_count, 2);
    assert_string_equal(seen.devices[0], "H200");
    assert_string_equal(seen.tracks[1], "XLA Ops");
    assert_int_equal(seen.event_count, 3);
    assert_int_equal(seen_find("fusion.1")->e.kind, VPCAP_SPAN);
    assert_int_equal(seen_find("fusion.1")->e.track, stream - 1);
    assert_int_equal(seen_find("fusion.1")->e.correlation, 9);
    assert_string_equal(seen_find("fusion.1")->arg_text, "flops=1000;scope=layer1;");
    assert_string_equal(seen_find("MemcpyH2D")->arg_text,
                        "memcpy_details=kind_src:unknown kind_dst:device size:4096 dest:1 async:1;"
                        "bytes_transferred=4096;source_device=0;destination_device=1;");
    assert_string_equal(seen_find("all-reduce")->arg_text,
                        "bytes_accessed=64;group=2;rank=1;group_size=4;"
                        "all_reduce_unique_id=1099511627776;");
}

/* A million ticks of the clock are as long as the wall says, within a percent. */
static void ticks_are_time(void **state)
{
    (void)state;
    time_t before = time(NULL);
    vp_recording *r = here_start();
    struct timespec a, b;
    {
        VP_SCOPE("20 ms");
        clock_gettime(CLOCK_MONOTONIC, &a);
        do
            clock_gettime(CLOCK_MONOTONIC, &b);
        while ((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec < 20000000);
    }
    assert_int_equal(vp_stop(r, NULL), 0);
    int64_t wall_ps = ((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec) * 1000;
    assert_true(seen.events[0].e.dur_ps >= wall_ps - wall_ps / 1000);
    assert_in_range(seen.info.start_unix_ns / 1000000000, before, time(NULL));
    assert_true(seen.info.end_ps >= seen.events[0].e.start_ps + seen.events[0].e.dur_ps);
}

/* Longer than 2^32 ticks, by a zone that pretends to have begun long ago. */
static void durations_beyond_32_bits(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    uint64_t ticks = (UINT64_C(1) << 34) + 12345;
    cap_zone(vp_name("long"), vp_now() - ticks, cap_generation(), false, 0);
    cap_zone(vp_name("short"), vp_now() - 1000, cap_generation(), true, 3);
    cap_zone(vp_name("from the future"), vp_now() + ticks, cap_generation(), false, 0);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.event_count, 3);
    /* 2^34 ticks: clocks run at 1 MHz (some of ARM) to 17 GHz */
    assert_in_range(seen_find("long")->e.dur_ps, 1000000000000, 17200000000000000);
    assert_int_equal(seen_find("short")->e.number, 3);
    assert_int_equal(seen_find("from the future")->e.dur_ps, 0);
}

static void metas_and_thread_names(void **state)
{
    (void)state;
    assert_int_equal(vp_meta_str("mesh.shape", "2x2"), 0);
    assert_int_equal(vp_thread_name("main loop"), 0);
    vp_recording *r = here_start();
    {
        VP_SCOPE("x");
    }
    assert_int_equal(vp_meta_str("mesh.shape", "4x2"), 0); /* replaces */
    assert_int_equal(vp_meta_int("hosts", -3), 0);
    assert_int_equal(vp_meta_sharding("params", "PartitionSpec('x')", true), 0);
    assert_int_equal(vp_meta_str(NULL, "x"), VP_EARG);
    assert_int_equal(vp_meta_str("x", NULL), VP_EARG);
    assert_int_equal(vp_thread_name(NULL), VP_EARG);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.meta_count, 3);
    assert_string_equal(seen.metas[0][0], "mesh.shape");
    assert_string_equal(seen.metas[0][1], "4x2");
    assert_string_equal(seen.metas[1][1], "-3");
    assert_string_equal(seen.metas[2][0], "sharding.params");
    assert_string_equal(seen.metas[2][1], "PartitionSpec('x') (replicated)");
    assert_string_equal(seen.thread_names[0], "main loop");
}

static unsigned steps_begun, steps_ended;
static uint64_t last_step;

static void on_step(bool begin, uint64_t number)
{
    steps_begun += begin;
    steps_ended += !begin;
    last_step = number;
}

static void steps_are_told_also_when_off(void **state)
{
    (void)state;
    cap_on_step(CAP_STEPS_CONTROL, on_step);
    {
        VP_STEP("train", 8);
        assert_int_equal(steps_begun, 1);
        assert_int_equal(steps_ended, 0);
    }
    cap_on_step(CAP_STEPS_CONTROL, NULL);
    {
        VP_STEP("train", 9);
    }
    assert_int_equal(steps_begun, 1);
    assert_int_equal(steps_ended, 1);
    assert_int_equal(last_step, 8);
}

/* Scopes of coroutines end in any order, each on a stack of its own: none of them is left. */
static ucontext_t outside, inside[2];

static void coroutine(int which)
{
    for (int i = 0; i < 20; i++) {
        VP_SCOPE("waits");
        swapcontext(&inside[which], &outside);
    }
    swapcontext(&inside[which], &outside);
}

static void scopes_of_coroutines_are_not_left(void **state)
{
    (void)state;
    static char stacks[2][256 * 1024];
    vp_result result = VP_RESULT_INIT;
    vp_recording *r = here_start();
    for (int i = 0; i < 2; i++) {
        getcontext(&inside[i]);
        inside[i].uc_stack.ss_sp = stacks[i];
        inside[i].uc_stack.ss_size = sizeof stacks[i];
        inside[i].uc_link = NULL;
        makecontext(&inside[i], (void (*)(void))coroutine, 1, i);
    }
    for (int i = 0; i < 21; i++)
        for (int k = 0; k < 2; k++)
            swapcontext(&outside, &inside[(i + k) % 2]);
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 40);
    assert_int_equal(result.left, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {here_test(scopes_on_one_line),
                                       here_test(values_pass_through_wrappers),
                                       here_test(args_keep_their_types),
                                       here_test(strings_too_long_are_cut),
                                       here_test(steps_compiles_launches),
                                       here_test(counters_and_instants),
                                       here_test(flows_find_their_zone),
                                       here_test(names_made_at_run_time),
                                       here_test(a_name_that_is_none_loses_no_zone),
                                       here_test(levels_above_are_left_out),
                                       here_test(pairs_65_deep),
                                       here_test(scopes_200_deep),
                                       here_test(pairs_and_scopes_may_cross),
                                       here_test(only_zones_within_count),
                                       here_test(correlations_nest),
                                       here_test(devices_tracks_and_spans),
                                       here_test(ticks_are_time),
                                       here_test(durations_beyond_32_bits),
                                       here_test(metas_and_thread_names),
                                       here_test(steps_are_told_also_when_off),
                                       here_test(scopes_of_coroutines_are_not_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
