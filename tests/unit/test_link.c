/* Deep links: what the Perfetto UI decodes out of them must be what was meant. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/err.h"
#include "trace/export/export.h"

/* RFC 3986 2.1, written independently of the encoder. */
static size_t decode(char *dst, const char *src, size_t n)
{
    size_t out = 0;
    for (size_t i = 0; i < n; i++) {
        char c = src[i];
        if (c == '%') {
            assert_true(i + 2 < n);
            char two[3] = {src[i + 1], src[i + 2], 0};
            c = (char)strtoul(two, NULL, 16);
            i += 2;
        }
        dst[out++] = c;
    }
    dst[out] = 0;
    return out;
}

static void percent_keeps_only_unreserved(void **state)
{
    (void)state;
    vp_buf b;
    vp_buf_init(&b, 4096);
    assert_int_equal(ex_percent(&b, VP_STR("aZ09-._~")), 0);
    assert_string_equal(vp_buf_cstr(&b), "aZ09-._~");
    b.n = 0;
    assert_int_equal(ex_percent(&b, VP_STR("/?&=#% \"\xc3\xa9")), 0);
    assert_string_equal(vp_buf_cstr(&b), "%2F%3F%26%3D%23%25%20%22%C3%A9");
    b.n = 0;
    char all[256], decoded[1024];
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    assert_int_equal(ex_percent(&b, (vp_str){all, 256}), 0);
    assert_int_equal(decode(decoded, b.p, b.n), 256);
    assert_memory_equal(decoded, all, 256);
    vp_buf_free(&b);
}

/* Every command is on the UI's allow-list and has string arguments (perfetto.md 1.3). */
static void commands_are_allowed(void **state)
{
    static const char *const allowed[] = {"dev.perfetto.PinTracksByRegex",
                                          "dev.perfetto.ExpandTracksByRegex",
                                          "dev.perfetto.RunQueryAndShowTab"};
    (void)state;
    vp_buf b;
    vp_buf_init(&b, 64u << 10);
    assert_int_equal(ex_startup_commands(&b), 0);
    json_t *list = json_loadb(b.p, b.n, 0, NULL);
    assert_non_null(list);
    unsigned seen[3] = {0};
    size_t i;
    json_t *command;
    json_array_foreach(list, i, command)
    {
        const char *id = json_string_value(json_object_get(command, "id"));
        json_t *args = json_object_get(command, "args");
        unsigned k = 0;
        while (k < 3 && strcmp(id, allowed[k]))
            k++;
        assert_true(k < 3);
        seen[k]++;
        assert_int_equal(json_array_size(args), k == 2 ? 2 : 1);
        assert_true(json_is_string(json_array_get(args, 0)));
    }
    assert_int_equal(seen[0], 3);
    assert_int_equal(seen[1], 3);
    assert_int_equal(seen[2], 1);
    assert_non_null(strstr(vp_buf_cstr(&b), "\"Slowest ops\""));
    assert_non_null(strstr(vp_buf_cstr(&b), "\".*stream \\\\d+.*\""));
    json_decref(list);
    vp_buf_free(&b);
}

/* The value of `key` in the link's fragment, decoded. */
static void param(const char *link, const char *key, char *out)
{
    const char *p = strstr(link, key);
    assert_non_null(p);
    assert_true(p[-1] == '?' || p[-1] == '&');
    p += strlen(key);
    decode(out, p, strcspn(p, "&"));
}

static void link_round_trips(void **state)
{
    static const char trace[] = "http://127.0.0.1:9001/trace/a b/h&x=1#y?z%20.json.gz";
    static char value[65536];
    (void)state;
    vp_buf b, commands;
    vp_buf_init(&b, 64u << 10);
    vp_buf_init(&commands, 64u << 10);
    assert_int_equal(ex_perfetto_link(&b, "https://ui.perfetto.dev/", trace, 1000, 2500), 0);
    const char *link = vp_buf_cstr(&b);
    assert_int_equal(strncmp(link, "https://ui.perfetto.dev/#!/?url=http%3A%2F%2F", 45), 0);
    param(link, "url=", value);
    assert_string_equal(value, trace);
    param(link, "visStart=", value);
    assert_string_equal(value, "1000");
    param(link, "visEnd=", value);
    assert_string_equal(value, "2500");
    assert_int_equal(ex_startup_commands(&commands), 0);
    param(link, "startupCommands=", value);
    assert_string_equal(value, vp_buf_cstr(&commands));
    vp_buf_free(&b);
    vp_buf_free(&commands);
}

static void no_time_no_window(void **state)
{
    static const int64_t windows[][2] = {{-1, -1}, {-1, 5}, {5, -1}, {5, 5}, {6, 5}};
    (void)state;
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        vp_buf b;
        vp_buf_init(&b, 64u << 10);
        assert_int_equal(ex_perfetto_link(&b, "http://localhost:10000", "http://x/", windows[i][0],
                                          windows[i][1]),
                         0);
        assert_null(strstr(vp_buf_cstr(&b), "visStart"));
        assert_null(strstr(vp_buf_cstr(&b), "visEnd"));
        vp_buf_free(&b);
    }
}

static void a_full_buffer_fails(void **state)
{
    (void)state;
    vp_buf b;
    vp_buf_init(&b, 40);
    assert_int_equal(ex_perfetto_link(&b, "https://ui.perfetto.dev", "http://x/", -1, -1),
                     VP_ELIMIT);
    vp_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percent_keeps_only_unreserved),
        cmocka_unit_test(commands_are_allowed),
        cmocka_unit_test(link_round_trips),
        cmocka_unit_test(no_time_no_window),
        cmocka_unit_test(a_full_buffer_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
