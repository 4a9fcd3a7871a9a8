/* trace/analyze/memory/planned_sizes: which allocation is what of a plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/analyze/memory/planned_sizes.h"

#define MIB (INT64_C(1) << 20)

static vp_plan_buffer f_live[] = {
    {.instruction = "fusion.2", .kind = VP_BUFFER_OUTPUT, .bytes = 8 * MIB + 1},
    {.instruction = "x.1", .kind = VP_BUFFER_PARAMETER, .bytes = 3 * MIB},
    {.instruction = "small", .kind = VP_BUFFER_OUTPUT, .bytes = 4096}};
static vp_plan_buffer g_live[] = {
    {.instruction = "sum", .kind = VP_BUFFER_OUTPUT, .bytes = 5 * MIB},
    {.instruction = "other", .kind = VP_BUFFER_OUTPUT, .bytes = 6 * MIB}};
static vp_memory_plan plans[] = {
    {.module = "jit_f", .ran = true, .temp_bytes = 5 * MIB, .live = f_live, .live_count = 3},
    {.module = "jit_g", .ran = true, .temp_bytes = 6 * MIB, .live = g_live, .live_count = 2},
    {.module = "jit_g", .ran = true, .temp_bytes = 6 * MIB},
    {.module = "jit_h", .ran = false, .temp_bytes = 7 * MIB},
    {.module = "jit_k", .ran = true, .space = VP_SPACE_HOST, .temp_bytes = 9 * MIB}};

static void expect(const planned_sizes *s, host_result *h, int64_t bytes, const char *call,
                   const char *want)
{
    const char *text;
    uint32_t found = planned_sizes_find(s, bytes, vp_str_of(call));
    assert_int_equal(planned_sizes_text(&text, h, s, found), 0);
    if (want)
        assert_string_equal(text, want);
    else
        assert_null(text);
}

static void what_only_one_thing_can_be(void **state)
{
    host_result h;
    planned_sizes s;
    (void)state;
    host_result_init(&h);
    h.memory_static = plans;
    h.memory_static_count = sizeof plans / sizeof *plans;
    assert_int_equal(planned_sizes_new(&s, &h), 0);
    expect(&s, &h, 8 * MIB + 256, "Execute", "jit_f: result fusion.2");
    expect(&s, &h, 8 * MIB, "Execute", NULL);
    expect(&s, &h, 3 * MIB, "PjitFunction(f)", NULL); /* an argument is somebody else's result */
    expect(&s, &h, 4096, "PjitFunction(f)", NULL);    /* too common */
    expect(&s, &h, 7 * MIB, "Execute", NULL);         /* did not run */
    expect(&s, &h, 9 * MIB, "Execute", NULL);         /* the host's memory */
    /* f's temporaries or g's result: the call tells which */
    expect(&s, &h, 5 * MIB, "Execute", NULL);
    expect(&s, &h, 5 * MIB, "PjitFunction(f)", "jit_f: temporaries");
    expect(&s, &h, 5 * MIB, "PjitFunction(g)", "jit_g: result");
    expect(&s, &h, 5 * MIB, "PjitFunction(other)", NULL);
    expect(&s, &h, 5 * MIB, "", NULL);
    /* two of g's are as large, whoever calls */
    expect(&s, &h, 6 * MIB, "PjitFunction(g)", NULL);
    assert_int_equal(planned_sizes_of_stack(&s, 5 * MIB), 0);
    const char *text;
    assert_int_equal(planned_sizes_text(&text, &h, &s, planned_sizes_of_stack(&s, 21 * MIB)), 0);
    assert_string_equal(text, "jit_f: temporaries");
    assert_int_equal(planned_sizes_text(&text, &h, &s, planned_sizes_of_stack(&s, 22 * MIB)), 0);
    assert_string_equal(text, "jit_g: temporaries"); /* of both programs of that name */
    planned_sizes_free(&s);
    h.memory_static = NULL;
    h.memory_static_count = 0;
    host_result_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_only_one_thing_can_be)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
