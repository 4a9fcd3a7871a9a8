/* Turns: few at once, one a session, none for whoever has left, and the next is not kept waiting
 * by those that last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "include/view_profile.h"
#include "server/routes/store/turns.h"
#include "trace/base/time.h"

/* A thread that takes a turn, and goes on until it is told to end. */
typedef struct player {
    turn t;
    pthread_t thread;
    _Atomic bool has_turn, over, gone;
    int rc;
} player;

static turns *all;

static bool has_gone(void *ctx)
{
    return atomic_load(&((player *)ctx)->gone);
}

static void *play(void *ctx)
{
    player *p = ctx;
    p->rc = turn_begin(&p->t);
    if (p->rc < 0)
        return NULL;
    atomic_store(&p->has_turn, true);
    while (!atomic_load(&p->over) && !(p->rc = turn_go_on(&p->t)))
        usleep(1000);
    turn_end(&p->t);
    return NULL;
}

static void start(player *p, const char *session)
{
    *p = (player){.t = {.of = all, .session = session, .unwanted = has_gone, .ctx = p}};
    assert_int_equal(pthread_create(&p->thread, NULL, play, p), 0);
}

static bool gets_turn_within(player *p, int64_t ms)
{
    int64_t until = vp_now_ns() + ms * 1000000;
    while (!atomic_load(&p->has_turn) && vp_now_ns() < until)
        usleep(1000);
    return atomic_load(&p->has_turn);
}

static int end(player *p)
{
    atomic_store(&p->over, true);
    pthread_join(p->thread, NULL);
    return p->rc;
}

/* Two sessions have all the turns that there are. */
static void take_both(player *a, player *b)
{
    start(a, "a");
    start(b, "b");
    assert_true(gets_turn_within(a, 10000));
    assert_true(gets_turn_within(b, 10000));
}

static void two_at_once(void **state)
{
    player a, b, c;
    (void)state;
    take_both(&a, &b);
    start(&c, "c");
    assert_false(gets_turn_within(&c, 500));
    assert_int_equal(end(&a), 0);
    assert_true(gets_turn_within(&c, 10000));
    assert_int_equal(end(&b), 0);
    assert_int_equal(end(&c), 0);
}

static void one_of_a_session(void **state)
{
    player a, again, b;
    (void)state;
    start(&a, "a");
    assert_true(gets_turn_within(&a, 10000));
    start(&again, "a");
    assert_false(gets_turn_within(&again, 500));
    start(&b, "b"); /* who comes later and asks for another does not wait */
    assert_true(gets_turn_within(&b, 10000));
    assert_int_equal(end(&a), 0);
    assert_true(gets_turn_within(&again, 10000));
    assert_int_equal(end(&again), 0);
    assert_int_equal(end(&b), 0);
}

static void none_for_who_has_left(void **state)
{
    player a, b, c;
    (void)state;
    take_both(&a, &b);
    start(&c, "c");
    atomic_store(&c.gone, true); /* while it waits */
    pthread_join(c.thread, NULL);
    assert_int_equal(c.rc, VP_ECANCELLED);
    atomic_store(&a.gone, true); /* while it is at work */
    pthread_join(a.thread, NULL);
    assert_int_equal(a.rc, VP_ECANCELLED);
    assert_int_equal(end(&b), 0);
}

/* Four that do not end: two go on, two stand still, and what is short finds a place. */
static void those_that_last_make_room(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    player slow[4], quick;
    (void)state;
    for (int i = 0; i < 4; i++)
        start(&slow[i], names[i]);
    for (int i = 0; i < 4; i++)
        assert_true(gets_turn_within(&slow[i], 30000));
    start(&quick, "quick");
    assert_true(gets_turn_within(&quick, 30000));
    assert_int_equal(end(&quick), 0);
    for (int i = 0; i < 4; i++) {
        atomic_store(&slow[i].gone, true); /* those that stand still look for this alone */
        int rc = end(&slow[i]);
        assert_true(rc == 0 || rc == VP_ECANCELLED);
    }
}

static int setup(void **state)
{
    (void)state;
    return turns_new(&all);
}

static int teardown(void **state)
{
    (void)state;
    turns_free(all);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_at_once),
        cmocka_unit_test(one_of_a_session),
        cmocka_unit_test(none_for_who_has_left),
        cmocka_unit_test(those_that_last_make_room),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
