/* Libraries that are loaded when they are needed. */
#include "trace/base/system/library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/err.h"

static double (*cosine)(double);
static const vp_symbol symbols[] = {{&cosine, "cos", false}};

static void what_is_installed_is_loaded_once(void **state)
{
    static vp_library library = VP_LIBRARY("libm.so.6");
    (void)state;
    assert_int_equal(vp_library_load(&library, symbols, 1), 0);
    assert_true(cosine(0) == 1);
    cosine = NULL;
    assert_int_equal(vp_library_load(&library, symbols, 1), 0);
    assert_null(cosine);
}

static void what_is_not_is_named(void **state)
{
    static vp_library library = VP_LIBRARY("libnobodyhas.so.1");
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vp_library_load(&library, symbols, 1), VP_EUNSUPPORTED);
        assert_non_null(strstr(vp_error_last()->message, "libnobodyhas.so.1"));
    }
}

static void another_version_is_refused(void **state)
{
    static vp_library library = VP_LIBRARY("libm.so.6");
    static void *slot;
    const vp_symbol table[] = {{&cosine, "cos", false}, {&slot, "cos_of_tomorrow", false}};
    (void)state;
    assert_int_equal(vp_library_load(&library, table, 2), VP_EUNSUPPORTED);
    assert_non_null(strstr(vp_error_last()->message, "cos_of_tomorrow"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_installed_is_loaded_once),
        cmocka_unit_test(what_is_not_is_named),
        cmocka_unit_test(another_version_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
