/* Events that come by their ends leave by their starts, whatever they nest in and however they
 * cross; and the step each belongs to is the one that a search through all pairs finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/vpcap/vpcap_groups.h"
#include "trace/vpcap/vpcap_window.h"

typedef struct ev {
    int64_t start, end;
    uint32_t id;
} ev;

static uint64_t seed = 12345;

static uint64_t dice(uint64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % n;
}

/* ---- The window ---- */

typedef struct got {
    ev *v;
    size_t n, late;
} got;

static void leave(vw_window *w, int64_t limit, got *g)
{
    int n = vw_leave(w, limit);
    assert_true(n >= 0);
    for (int i = 0; i < n; i++) {
        const vpcap_plain *e = &w->entries[w->order[i]];
        uint32_t id = e->name;
        if (e->more) {
            vp_str bytes = vw_bytes_at(w, w->order[i]);
            assert_int_equal(bytes.n, sizeof id);
            memcpy(&id, bytes.p, sizeof id);
        }
        g->v[g->n++] = (ev){e->start_ps, e->start_ps + e->dur_ps, id};
    }
    vw_turn(w);
}

/* Every third one is not plain. */
static void put(vw_window *w, const ev *e)
{
    if (e->id % 3) {
        *vw_room(w) = (vpcap_plain){e->start, e->end - e->start, e->id, 0};
        vw_push(w, 1);
        return;
    }
    size_t offset = vw_bytes(w)->n;
    vp_buf_put(vw_bytes(w), &e->id, sizeof e->id);
    vw_add(w, e->start, e->end - e->start, offset);
}

/* All events by their ends through a window; the late ones are only counted. */
static got through_window(const ev *v, size_t n)
{
    vw_window w;
    vpcap_notes m = VPCAP_NOTES_INIT(VW_BLOCK);
    got g = {.v = calloc(n + 1, sizeof *g.v)};
    assert_int_equal(vw_init(&w), 0);
    vw_clear(&w);
    for (size_t i = 0; i < n; i++) {
        if (v[i].start <= m.limit)
            g.late++;
        else
            put(&w, &v[i]);
        vpcap_note(&m, v[i].end, 1);
        if (m.turned)
            leave(&w, m.limit, &g);
    }
    leave(&w, INT64_MAX, &g);
    vw_free(&w);
    return g;
}

static void expect_whole_and_sorted(const got *g, const ev *v, size_t n)
{
    char *seen = calloc(n + 1, 1);
    assert_int_equal(g->n + g->late, n);
    for (size_t i = 0; i < g->n; i++) {
        const ev *e = &g->v[i];
        assert_true(e->id < n && !seen[e->id]);
        seen[e->id] = 1;
        assert_true(v[e->id].start == e->start && v[e->id].end == e->end);
        if (i) {
            const ev *before = &g->v[i - 1];
            assert_true(before->start <= e->start);
            assert_true(before->start != e->start || before->end >= e->end);
        }
    }
    free(seen);
}

/* depth levels of three children each, which is how scopes are recorded: a parent after its own. */
static size_t nest(ev *v, size_t n, int depth, int64_t *clock)
{
    int64_t start = (*clock)++;
    for (int i = 0; depth && i < 3; i++)
        n = nest(v, n, depth - 1, clock);
    v[n] = (ev){start, (*clock)++, (uint32_t)n};
    return n + 1;
}

static void nested_scopes_leave_by_their_starts(void **state)
{
    enum { N = 88573 }; /* (3^11 - 1) / 2 */
    ev *v = calloc(N, sizeof *v);
    int64_t clock = 0;
    (void)state;
    assert_int_equal(nest(v, 0, 10, &clock), N);
    got g = through_window(v, N);
    expect_whole_and_sorted(&g, v, N);
    /* Late are those that span more than a block: of 3^k below them, k >= 6 (1,093 events). */
    assert_true(g.late >= 1 && g.late <= 200);
    free(g.v);
    free(v);
}

static int by_end(const void *a, const void *b)
{
    const ev *x = a, *y = b;
    return (x->end > y->end) - (x->end < y->end);
}

static void crossing_ones_too(void **state)
{
    enum { N = 50000 };
    ev *v = calloc(N, sizeof *v);
    (void)state;
    for (size_t i = 0; i < N; i++) {
        int64_t start = (int64_t)dice(1000000);
        v[i] = (ev){start, start + (int64_t)dice(dice(10) ? 300 : 200000), 0};
    }
    qsort(v, N, sizeof *v, by_end);
    for (size_t i = 0; i < N; i++)
        v[i].id = (uint32_t)i;
    got g = through_window(v, N);
    expect_whole_and_sorted(&g, v, N);
    assert_true(g.late > 0 && g.late < N / 5);
    free(g.v);
    free(v);
}

/* Of two that cannot be told apart by their times the one that ended later lies around the other,
 * unless they are instants; whether or not others cross. */
static void ties_are_told_by_the_order_of_ends(void **state)
{
    enum { N = 9000 };
    (void)state;
    for (int crossed = 0; crossed < 2; crossed++) {
        ev *v = calloc(N, sizeof *v);
        for (uint32_t i = 0; i < N; i++) {
            int64_t at = (int64_t)(i / 6) * 10, start = i % 6 < 3 ? at : at + 2;
            v[i] = (ev){start, i % 6 < 3 ? at : at + 4, i};
            if (crossed && i % 60 == 59) /* begins in the last one, and ends later */
                v[i] = (ev){at + 3, at + 5, i};
        }
        got g = through_window(v, N);
        expect_whole_and_sorted(&g, v, N);
        for (size_t i = 1; i < g.n; i++) {
            const ev *a = &g.v[i - 1], *b = &g.v[i];
            if (a->start == b->start && a->end == b->end)
                assert_int_equal(a->id < b->id, a->start == a->end);
        }
        free(g.v);
        free(v);
    }
}

/* A clock that jumps back: nothing is lost, the late ones are many. */
static void no_order_at_all_loses_nothing(void **state)
{
    enum { N = 20000 };
    ev *v = calloc(N, sizeof *v);
    (void)state;
    for (size_t i = 0; i < N; i++) {
        int64_t start = (int64_t)dice(1000000);
        v[i] = (ev){start, start + (int64_t)dice(1000), (uint32_t)i};
    }
    got g = through_window(v, N);
    expect_whole_and_sorted(&g, v, N);
    free(g.v);
    free(v);
}

/* ---- Groups ---- */

static const vpcap_kind Z = VPCAP_ZONE, S = VPCAP_STEP;

static void note(vg_groups *g, uint32_t thread, vpcap_kind kind, int64_t start, int64_t end,
                 uint64_t out, uint64_t in, uint32_t correlation)
{
    vpcap_event e = {.start_ps = start,
                     .dur_ps = end - start,
                     .kind = kind,
                     .flow_out = out,
                     .flow_in = in,
                     .correlation = correlation};
    assert_int_equal(vg_note(g, thread, &e), 0);
}

static int64_t group_at(const vg_groups *g, uint32_t thread, int64_t start, int64_t end)
{
    vg_walk w;
    vg_walk_begin(&w, g, thread);
    return vg_walk_group(&w, start, end);
}

static void steps_are_numbered_by_start_and_outermost(void **state)
{
    vg_groups g = {0};
    (void)state;
    note(&g, 1, S, 50, 60, 0, 0, 0);   /* of another thread, between the two: 1 */
    note(&g, 0, S, 12, 18, 0, 0, 0);   /* in the step below: that one's */
    note(&g, 0, S, 10, 20, 0, 0, 0);   /* 0 */
    note(&g, 0, S, 100, 120, 0, 0, 0); /* 2 */
    assert_int_equal(vg_resolve(&g), 0);
    assert_int_equal(group_at(&g, 0, 10, 20), 0);
    assert_int_equal(group_at(&g, 0, 12, 18), 0);
    assert_int_equal(group_at(&g, 0, 13, 14), 0);
    assert_int_equal(group_at(&g, 1, 50, 51), 1);
    assert_int_equal(group_at(&g, 0, 100, 100), 2);
    assert_int_equal(group_at(&g, 0, 20, 21), VG_NO_GROUP); /* ends beyond it */
    assert_int_equal(group_at(&g, 0, 30, 40), VG_NO_GROUP);
    assert_int_equal(group_at(&g, 2, 10, 20), VG_NO_GROUP);
    vg_free(&g);
}

/* step on thread 0 → zone on 1 → zone on 2, and device work launched there; a zone on 1 that lies
 * in a step of its own stays there. */
static void flows_carry_groups_from_thread_to_thread(void **state)
{
    vg_groups g = {0};
    (void)state;
    note(&g, 0, Z, 12, 13, 77, 0, 0);
    note(&g, 0, S, 10, 20, 0, 0, 0);
    note(&g, 1, Z, 32, 33, 78, 0, 0);
    note(&g, 1, Z, 30, 40, 0, 77, 0);
    note(&g, 1, Z, 52, 53, 0, 77, 0);
    note(&g, 1, S, 50, 60, 0, 0, 0);
    note(&g, 2, Z, 42, 43, 0, 0, 9);
    note(&g, 2, Z, 41, 45, 0, 78, 0);
    note(&g, 2, Z, 70, 71, 0, 79, 8); /* nobody hands 79 over */
    assert_int_equal(vg_resolve(&g), 0);
    assert_int_equal(group_at(&g, 1, 30, 40), 0);
    assert_int_equal(group_at(&g, 1, 35, 36), 0);
    assert_int_equal(group_at(&g, 1, 52, 53), 1);
    assert_int_equal(group_at(&g, 2, 41, 45), 0);
    assert_int_equal(group_at(&g, 2, 70, 71), VG_NO_GROUP);
    assert_int_equal(vg_of_correlation(&g, 9), 0);
    assert_int_equal(vg_of_correlation(&g, 8), VG_NO_GROUP);
    assert_int_equal(vg_of_correlation(&g, 0), VG_NO_GROUP);
    vg_free(&g);
}

/* A walk in order of starts finds what a fresh search finds. */
static void a_walk_agrees_with_single_searches(void **state)
{
    enum { STEPS = 300, ZONES = 5000 };
    vg_groups g = {0};
    vg_walk w;
    (void)state;
    for (int64_t i = 0; i < STEPS; i++) {
        note(&g, 3, Z, i * 100 + 30, i * 100 + 45, 0, 5, 0);
        note(&g, 3, S, i * 100, i * 100 + 80, 0, 0, 0);
    }
    assert_int_equal(vg_resolve(&g), 0);
    vg_walk_begin(&w, &g, 3);
    for (int64_t i = 0; i < ZONES; i++) {
        int64_t start = i * STEPS * 100 / ZONES, end = start + (int64_t)dice(30);
        bool inside = start % 100 + (end - start) <= 80;
        int64_t want = inside ? start / 100 : VG_NO_GROUP;
        assert_int_equal(vg_walk_group(&w, start, end), want);
        assert_int_equal(group_at(&g, 3, start, end), want);
    }
    vg_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_scopes_leave_by_their_starts),
        cmocka_unit_test(crossing_ones_too),
        cmocka_unit_test(ties_are_told_by_the_order_of_ends),
        cmocka_unit_test(no_order_at_all_loses_nothing),
        cmocka_unit_test(steps_are_numbered_by_start_and_outermost),
        cmocka_unit_test(flows_carry_groups_from_thread_to_thread),
        cmocka_unit_test(a_walk_agrees_with_single_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
