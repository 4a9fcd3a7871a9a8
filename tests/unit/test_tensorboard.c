/* Which of a TensorBoard's runs is ours: an unknown run would silently open another one
 * (peers.md), so only an exact or a unique match counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/remote/tensorboard.h"

static const char *find(const char *runs, const char *name, int *rc)
{
    static char run[64];
    run[0] = '\0';
    *rc = tb_find_run(run, sizeof run, vp_str_of(runs), name);
    return run;
}

#define IS(runs, name, want)                                                                       \
    do {                                                                                           \
        int rc_;                                                                                   \
        assert_string_equal(find(runs, name, &rc_), want);                                         \
        assert_int_equal(rc_, 0);                                                                  \
    } while (0)
#define NOT(runs, name, code)                                                                      \
    do {                                                                                           \
        int rc_;                                                                                   \
        assert_string_equal(find(runs, name, &rc_), "");                                           \
        assert_int_equal(rc_, code);                                                               \
    } while (0)

static void test_match(void **state)
{
    (void)state;
    IS("[\"train/a\",\"b\"]", "b", "b");
    IS("[\"train/a\",\"b\"]", "train/a", "train/a");
    /* Their log directory is higher or deeper than ours. */
    IS("[\"x/train/a\",\"b\"]", "a", "x/train/a");
    IS("[\"a\",\"b\"]", "train/a", "a");
    /* The exact name wins over other runs with its last component. */
    IS("[\"x/a\",\"a\",\"y/a\"]", "a", "a");
}

static void test_no_match(void **state)
{
    (void)state;
    NOT("[]", "a", VP_ENOTFOUND);
    NOT("[\"ab\",\"b\"]", "a", VP_ENOTFOUND);
    NOT("[\"x/a\",\"y/a\"]", "a", VP_ENOTFOUND);
    NOT("[1,null,{}]", "a", VP_ENOTFOUND);
    NOT("", "a", VP_ECORRUPT);
    NOT("{\"a\":1}", "a", VP_ECORRUPT);
    NOT("[\"a\"", "a", VP_ECORRUPT);
    /* Longer than the place for it. */
    NOT("[\"0123456789012345678901234567890123456789012345678901234567890123456789/a\"]", "a",
        VP_ENOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_no_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
