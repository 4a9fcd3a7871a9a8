/* Rows of steps on devices come back as they were packed, section by section, for every value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/analyze/result/packed_steps.h"
#include "trace/base/mem.h"

#define STEPS 3000u
#define DEVICES 3u
#define ORIGIN INT64_C(77)

static uint64_t seed = 1;

static uint64_t next_random(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return seed >> 16;
}

/* Mostly 0; whole steps of clocks; any picoseconds; and what needs all bits. */
static int64_t any_figure(void)
{
    static const int64_t edges[] = {-1,
                                    1,
                                    249,
                                    250,
                                    INT64_MAX,
                                    INT64_MIN,
                                    -250,
                                    INT64_C(1) << 61,
                                    (INT64_C(1) << 61) - 1,
                                    -(INT64_C(1) << 61),
                                    1 - (INT64_C(1) << 61),
                                    INT64_MAX / 250 * 250};
    switch (next_random() % 6) {
    case 0:
        return (int64_t)(next_random() % 1000000) * 250;
    case 1:
        return (int64_t)(next_random() % (UINT64_C(1) << next_random() % 48));
    case 2:
        return edges[next_random() % (sizeof edges / sizeof *edges)];
    default:
        return 0;
    }
}

typedef struct made {
    int64_t start_ps[DEVICES][STEPS], end_ps[DEVICES][STEPS], aligned_ps[DEVICES][STEPS];
    uint32_t step[DEVICES][STEPS], entry[DEVICES][STEPS];
    step_windows windows[DEVICES];
    vp_step list[STEPS];
    vp_step_device want[DEVICES][STEPS];
} made;

/* Device d has no window in every step of which d + 2 is a divisor. */
static void make(made *m)
{
    for (uint32_t d = 0; d < DEVICES; d++) {
        m->windows[d] = (step_windows){m->start_ps[d], m->end_ps[d], m->aligned_ps[d],
                                       m->step[d],     m->entry[d],  0};
        for (uint32_t s = 0; s < STEPS; s++) {
            size_t i = m->windows[d].count;
            vp_step_device *x = &m->want[d][i];
            int64_t *figures = (int64_t *)&x->breakdown;
            if (s % (d + 2) == 0)
                continue;
            m->start_ps[d][i] = s * 1000;
            m->end_ps[d][i] = s * 1000 + 900 + d;
            m->aligned_ps[d][i] = s * 1000 + 5;
            m->step[d][i] = s;
            m->entry[d][i] = (uint32_t)m->list[s].device_count++;
            *x =
                (vp_step_device){.device = d, .start_ps = s * 1000 + 5 - ORIGIN, .dur_ps = 900 + d};
            for (size_t k = 0; k < STEP_BREAKDOWN_FIGURES; k++)
                figures[k] = any_figure();
            for (size_t k = 0; k < VP_CAUSES && d != 1; k++) /* one of device 1 is never packed */
                x->cause_ps[k] = any_figure();
            for (size_t k = 0; k < VP_CELLS; k++)
                x->cell_ps[k] = any_figure();
            x->peak_ps = any_figure();
            m->windows[d].count++;
        }
    }
}

static void pack(packed_steps *r, const made *m, uint32_t d, step_section s, size_t offset)
{
    packed_steps_writer w;
    packed_steps_begin(&w, s);
    for (size_t i = 0; i < m->windows[d].count; i++)
        assert_int_equal(
            packed_steps_put(&w, (const int64_t *)((const char *)&m->want[d][i] + offset)), 0);
    assert_int_equal(packed_steps_end(&w, r, d, 0), 0);
}

static void pack_all(packed_steps *r, const made *m)
{
    assert_int_equal(packed_steps_open(r, m->windows, DEVICES), 0);
    for (uint32_t d = 0; d < DEVICES; d++) {
        pack(r, m, d, STEP_BREAKDOWN, offsetof(vp_step_device, breakdown));
        pack(r, m, d, STEP_CELLS, offsetof(vp_step_device, cell_ps));
        if (d != 1)
            pack(r, m, d, STEP_CAUSES, offsetof(vp_step_device, cause_ps));
    }
}

static void all_come_back(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        made *m = vp_calloc(1, sizeof *m);
        packed_steps r = {0};
        vp_arena arena;
        vp_arena_init(&arena);
        make(m);
        pack_all(&r, m);
        vp_steps steps = {.list = m->list, .count = STEPS};
        assert_int_equal(packed_steps_unpack(&r, &steps, &arena, ORIGIN, threads), 0);
        for (uint32_t d = 0; d < DEVICES; d++)
            for (size_t i = 0; i < m->windows[d].count; i++)
                assert_memory_equal(&m->list[m->step[d][i]].devices[m->entry[d][i]], &m->want[d][i],
                                    sizeof(vp_step_device));
        /* there is nothing to unpack any more: rows stay as they are */
        m->list[1].devices[0].dur_ps = 1;
        assert_int_equal(packed_steps_unpack(&r, &steps, &arena, ORIGIN, threads), 0);
        assert_int_equal(m->list[1].devices[0].dur_ps, 1);
        vp_arena_free(&arena);
        vp_free(m);
    }
}

static void a_section_is_read_while_others_are_packed(void **state)
{
    (void)state;
    made *m = vp_calloc(1, sizeof *m);
    packed_steps r = {0};
    int64_t figures[STEP_FIGURES_MAX];
    make(m);
    pack_all(&r, m);
    packed_steps_reader in = packed_steps_read(&r, 2, STEP_BREAKDOWN);
    for (size_t i = 0; i < m->windows[2].count; i++) {
        packed_steps_next(&in, figures);
        assert_memory_equal(figures, &m->want[2][i].breakdown, sizeof(vp_breakdown));
    }
    in = packed_steps_read(&r, 1, STEP_CAUSES); /* never packed */
    packed_steps_next(&in, figures);
    for (size_t i = 0; i < VP_CAUSES; i++)
        assert_int_equal(figures[i], 0);
    packed_steps_free(&r);
    vp_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_come_back),
        cmocka_unit_test(a_section_is_read_while_others_are_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
