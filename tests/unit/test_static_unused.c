/* trace/analyze/memory/static_unused: for how long what is live at a peak is not read there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/analyze/memory/static_unused.h"

/* p0; exp = exp(p0); loop = while(exp), in whose body are three instructions that work; late =
 * bitcast(p0); sum = add(loop, late); end = negate(sum). */
enum { P0, EXP, LOOP, LATE, SUM, END, IN, B1, B2, B3, INSTRS };

#define UNBORN (-2) /* not at the peak */

typedef struct rig {
    hlo_program *p;
    hlo_instr instrs[INSTRS];
    hlo_computation computations[2];
    uint32_t links[32];
    hlo_buffer buffers[INSTRS];
    hlo_program program;
} rig;

static void put(rig *r, uint32_t i, const char *opcode, const char *name, uint32_t a, uint32_t b)
{
    hlo_program *p = &r->program;
    r->instrs[i] = (hlo_instr){.opcode = vp_str_of(opcode),
                               .name = vp_str_of(name),
                               .computation = i >= IN,
                               .operands = (uint32_t)p->link_count};
    for (int k = 0; k < 2; k++)
        if ((k ? b : a) != HLO_NONE) {
            r->links[p->link_count++] = k ? b : a;
            r->instrs[i].operand_count++;
        }
    r->buffers[i] = (hlo_buffer){.instr = i};
    vp_map_set(&p->by_name, vp_hash(name, strlen(name), 1), i);
}

static void make(rig *r)
{
    *r = (rig){.program = {.entry = 0, .computation_count = 2, .instr_count = INSTRS}};
    hlo_program *p = &r->program;
    p->instrs = r->instrs;
    p->computations = r->computations;
    p->links = r->links;
    p->buffers = r->buffers;
    put(r, P0, "parameter", "p0", HLO_NONE, HLO_NONE);
    put(r, EXP, "exponential", "exp", P0, HLO_NONE);
    put(r, LOOP, "while", "loop", EXP, HLO_NONE);
    put(r, LATE, "bitcast", "late", P0, HLO_NONE);
    put(r, SUM, "add", "sum", LOOP, LATE);
    put(r, END, "negate", "end", SUM, HLO_NONE);
    put(r, IN, "parameter", "in", HLO_NONE, HLO_NONE);
    put(r, B1, "sine", "b1", IN, HLO_NONE);
    put(r, B2, "cosine", "b2", B1, HLO_NONE);
    put(r, B3, "add", "b3", B1, B2);
    r->instrs[LOOP].called = (uint32_t)p->link_count;
    r->instrs[LOOP].called_count = 1;
    r->links[p->link_count++] = 1;
    r->computations[0] = (hlo_computation){
        .first = P0, .count = IN, .order = (uint32_t)p->link_count, .order_count = IN};
    for (uint32_t i = P0; i < IN; i++)
        r->links[p->link_count++] = i;
    r->computations[1] = (hlo_computation){.first = IN, .count = INSTRS - IN};
}

static void expect(rig *r, const char *peak, int64_t all, const int64_t *want)
{
    unused_times t;
    assert_int_equal(unused_times_make(&t, &r->program, vp_str_of(peak)), 0);
    assert_non_null(t.c);
    assert_int_equal(t.all, all);
    for (uint32_t i = 0; i < INSTRS; i++)
        if (want[i] != UNBORN)
            assert_int_equal(unused_times_of(&t, i), want[i]);
    unused_times_free(&t);
}

static void around_a_loop(void **state)
{
    rig r;
    (void)state;
    make(&r);
    /* exp 1, the loop 4, sum 1, end 1: 7. p0 waits for the loop, exp for nothing. */
    expect(&r, "b2", 7, (const int64_t[]){4, 0, 0, UNBORN, UNBORN, UNBORN, -1, -1, -1, -1});
    /* p0 is last read by sum, exp by the loop */
    expect(&r, "end", 7, (const int64_t[]){1, 2, 1, 1, 0, 0, -1, -1, -1, -1});
    vp_map_free(&r.program.by_name);
}

static void what_is_not_known(void **state)
{
    rig r;
    unused_times t;
    (void)state;
    make(&r);
    static const char *const nowhere[] = {"", "other"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(unused_times_make(&t, &r.program, vp_str_of(nowhere[i])), 0);
        assert_null(t.c);
        assert_int_equal(unused_times_of(&t, P0), -1);
        unused_times_free(&t);
    }
    /* a body that calls itself, and what calls nothing */
    r.instrs[B1].called = r.instrs[LOOP].called;
    r.instrs[B1].called_count = 1;
    expect(&r, "b2", 7, (const int64_t[]){4, 0, 0, UNBORN, UNBORN, UNBORN, -1, -1, -1, -1});
    r.computations[0].order_count = 0;
    assert_int_equal(unused_times_make(&t, &r.program, VP_STR("b2")), 0);
    assert_null(t.c);
    unused_times_free(&t);
    vp_map_free(&r.program.by_name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(around_a_loop),
        cmocka_unit_test(what_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
