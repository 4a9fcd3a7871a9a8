/* What is taken out of addresses before anybody reads them (trace/base/secret.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/secret.h"

static const char *hidden(const char *text, size_t room)
{
    static char b[256];
    strcpy(b, text);
    vp_hide_secrets(b, room ? room : sizeof b);
    return b;
}

static void test_hidden(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"http://h/a?sig=x", "http://h/a?…"},
        {"HTTPS://u:p@h?t=1: nothing lies there", "HTTPS://h?…: nothing lies there"},
        {"\"https://u@h/a?b#c\" and http://v:w@i/?x, too",
         "\"https://h/a?…\" and http://i/?…, too"},
        {"az://box/a?sv=1&sig=2", "az://box/a?…"},
        {"abfss://box@acc.dfs.core.windows.net/a", "abfss://box@acc.dfs.core.windows.net/a"},
        {"http://h/a?", "http://h/a?"},
        {"is it there? http://h/a", "is it there? http://h/a"},
        {"http://h/a is it?", "http://h/a is it?"},
        {"://?a", "://?…"},
        {"http://a?b://c?d", "http://a?…"},
        {"http://", "http://"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(hidden(rows[i][0], 0), rows[i][1]);
}

static void test_without_room(void **state)
{
    (void)state;
    assert_string_equal(hidden("http://h/?a", 12), "http://h/?"); /* the sign takes 3 bytes */
    assert_string_equal(hidden("http://h/?abc", 14), "http://h/?…");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_without_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
