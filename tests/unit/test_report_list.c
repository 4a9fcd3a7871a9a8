/* trace/report/: the list of sessions, of a small profile directory made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"
#include "trace/report/report.h"

static char root[] = "/tmp/vp_list_XXXXXX";

static void put_file(const char *run, const char *name, const char *content)
{
    char path[512];
    snprintf(path, sizeof path, "%s/plugins", root);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/plugins/profile", root);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/plugins/profile/%s", root, run);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/plugins/profile/%s/%s", root, run, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

static int make_directory(void **state)
{
    (void)state;
    static const char json[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[{\"ph\":\"X\",\"pid\":"
                               "1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"a\"}]}";
    if (!mkdtemp(root))
        return -1;
    put_file("2026_01_02_03_04_05", "vm.trace.json", json);
    put_file("2026_01_11_21_26_41", "vm.trace.json", json);
    put_file("2026_01_11_21_26_41", "vm2.trace.json", json);
    put_file("evil\x1b[31m\xe2\x80\xae", "vm.trace.json", json);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "/bin/rm -r '%s'", root);
    FILE *p = popen(command, "r");
    return p ? pclose(p) : -1;
}

static char *listed(bool json, int width)
{
    catalog *c;
    cat_options opts = CAT_OPTIONS_INIT;
    vp_view v = VP_VIEW_INIT;
    vp_buf b;
    v.width = width;
    vp_buf_init(&b, 1 << 20);
    assert_int_equal(catalog_open(&c, root, &opts), 0);
    assert_int_equal(json ? rep_list_json(&b, c) : rep_list_text(&b, c, &v), 0);
    catalog_free(c);
    return vp_buf_take(&b, NULL);
}

static void test_text(void **state)
{
    (void)state;
    char *text = listed(false, 100);
    const char *newer = strstr(text, "2026_01_11_21_26_41"), *older = strstr(text, "2026_01_02_03");
    assert_non_null(newer);
    assert_non_null(older);
    assert_true(newer < older);
    assert_int_equal(strncmp(text, "captured", 8), 0);
    assert_non_null(strstr(text, "2026-01-11 21:26:41"));
    assert_null(strchr(text, 0x1b));
    assert_non_null(strstr(text, "evil\\x1b[31m\\u{202e}"));
    vp_free(text);
}

static void test_text_fits(void **state)
{
    (void)state;
    for (int width = 40; width <= 120; width += 20) {
        char *text = listed(false, width);
        vp_str rest = vp_str_of(text), line;
        while (rest.n && vp_take_until(&rest, '\n', SIZE_MAX, &line))
            assert_true(vp_display_width(line) <= (size_t)width);
        vp_free(text);
    }
}

static void test_json(void **state)
{
    (void)state;
    static const char *const keys[] = {"id",    "name",  "path",  "kind",   "captured_unix_ns",
                                       "bytes", "hosts", "files", "status", "why"};
    char *text = listed(true, 0);
    json_error_t e;
    json_t *top = json_loads(text, JSON_REJECT_DUPLICATES, &e), *session = NULL, *value;
    assert_non_null(top);
    assert_string_equal(json_string_value(json_object_get(top, "schema")), "view_profile.list/1");
    size_t i;
    json_array_foreach(json_object_get(top, "sessions"), i,
                       value) if (!strcmp(json_string_value(json_object_get(value, "name")),
                                          "2026_01_11_21_26_41")) session = value;
    assert_int_equal(i, 3);
    assert_non_null(session);
    const char *key;
    i = 0;
    json_object_foreach(session, key, value) assert_string_equal(key, keys[i++]);
    assert_int_equal(i, sizeof keys / sizeof *keys);
    assert_int_equal(json_array_size(json_object_get(session, "hosts")), 2);
    assert_int_equal(json_array_size(json_object_get(session, "files")), 2);
    assert_string_equal(json_string_value(json_object_get(session, "status")), "ok");
    assert_true(json_is_null(json_object_get(session, "why")));
    /* 2026-01-11 21:26:41 UTC, as the run's name says */
    assert_int_equal(json_integer_value(json_object_get(session, "captured_unix_ns")),
                     INT64_C(1768166801) * 1000000000);
    json_decref(top);
    vp_free(text);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_text_fits),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
