/* Texts that the build has packed read as what the sources say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "trace/analyze/findings/findings.h"
#include "trace/model/packed_text.h"

static void test_a_text_that_is_none_of_the_packed_is_itself(void **state)
{
    (void)state;
    const char *plain = "a short text";
    assert_ptr_equal(vp_unpacked(plain), plain);
    assert_null(vp_unpacked(NULL));
}

/* A number of another place would give the middle of a text, or another. */
static void test_each_begins_and_ends_as_a_sentence(void **state)
{
    (void)state;
    for (const finding_rule *rule = findings_rules; rule->id; rule++) {
        const char *says = vp_unpacked(rule->says);
        size_t n = strlen(says);
        assert_true(n > 40 && n < 1000);
        assert_in_range(says[0], 'A', 'Z');
        assert_int_equal(says[n - 1], '.');
        assert_null(strchr(says, '\x1f'));
    }
}

static void test_literals_are_joined(void **state)
{
    (void)state;
    const char *says = vp_unpacked(findings_rules[0].says);
    assert_string_equal(
        says, "The file is cut, capped, damaged or lacks links, so that sums and shares miss "
              "something. Every other finding is then one level less severe.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_text_that_is_none_of_the_packed_is_itself),
        cmocka_unit_test(test_each_begins_and_ends_as_a_sentence),
        cmocka_unit_test(test_literals_are_joined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
