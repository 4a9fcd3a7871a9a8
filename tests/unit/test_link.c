/* Deep links: what the Perfetto UI decodes out of them must be what was meant. */
#include <jansson.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/err.h"
#include "trace/export/link.h"

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

/* Which groups of the UI open: its names for processes (docs/reference/perfetto.md#group-names), of
 * TPU, GPU and Kineto files, and those of their hosts. */
static void expands_devices(const char *pattern)
{
    static const struct {
        const char *name;
        int found;
    } groups[] = {{"device:TPU:0 3", 1},
                  {"device:GPU:1 2", 1},
                  {"device:TPU:0 3 (hostA)", 1},
                  {"/device:CUSTOM:Megascale 9", 1},
                  {"python3 0", 1},
                  {"python3 15", 1},
                  {"host:CPU 701", 0},
                  {"python3 19392", 0},
                  {"Spans 20580", 0},
                  {"Spans 17", 0},
                  {"thread 0 (python3) 0", 0},
                  {"stream 7  7", 0}};
    regex_t re;
    assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if ((regexec(&re, groups[i].name, 0, NULL, 0) == 0) != groups[i].found)
            fail_msg("%s", groups[i].name);
    regfree(&re);
}

/* Every command is on the UI's allow-list and has string arguments
 * (docs/reference/perfetto.md#startup-commands). */
static void commands_are_allowed(void **state)
{
    static const char *const allowed[] = {"dev.perfetto.ExpandTracksByRegex",
                                          "dev.perfetto.RunQueryAndShowTab"};
    (void)state;
    vp_buf b;
    vp_buf_init(&b, 64u << 10);
    assert_int_equal(ex_startup_commands(&b), 0);
    json_t *list = json_loadb(b.p, b.n, 0, NULL);
    assert_non_null(list);
    unsigned seen[2] = {0};
    size_t i;
    json_t *command;
    json_array_foreach(list, i, command)
    {
        const char *id = json_string_value(json_object_get(command, "id"));
        json_t *args = json_object_get(command, "args");
        unsigned k = 0;
        while (k < 2 && strcmp(id, allowed[k]))
            k++;
        assert_true(k < 2);
        seen[k]++;
        assert_int_equal(json_array_size(args), k == 1 ? 2 : 1);
        assert_true(json_is_string(json_array_get(args, 0)));
    }
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 1);
    assert_non_null(strstr(vp_buf_cstr(&b), "\"Slowest ops\""));
    expands_devices(
        json_string_value(json_array_get(json_object_get(json_array_get(list, 0), "args"), 0)));
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
    ex_view v = {1000, 2500, -1, -1, true, false};
    assert_int_equal(ex_perfetto_link(&b, "https://ui.perfetto.dev/", trace, &v), 0);
    const char *link = vp_buf_cstr(&b);
    assert_int_equal(strncmp(link, "https://ui.perfetto.dev/#!/?url=http%3A%2F%2F", 45), 0);
    param(link, "url=", value);
    assert_string_equal(value, trace);
    param(link, "ts=", value);
    assert_string_equal(value, "1000");
    param(link, "dur=", value);
    assert_string_equal(value, "1500");
    assert_int_equal(ex_startup_commands(&commands), 0);
    param(link, "startupCommands=", value);
    assert_string_equal(value, vp_buf_cstr(&commands));
    vp_buf_free(&b);
    vp_buf_free(&commands);
}

/* A trace that is posted: the start page of some builds looks for one by itself. */
static void without_a_trace_the_viewer_opens(void **state)
{
    (void)state;
    vp_buf b;
    vp_buf_init(&b, 64u << 10);
    assert_int_equal(ex_perfetto_link(&b, "http://localhost:1/ui/", NULL, &EX_VIEW_ALL), 0);
    assert_int_equal(
        strncmp(vp_buf_cstr(&b), "http://localhost:1/ui/#!/viewer?startupCommands=%5B", 51), 0);
    vp_buf_free(&b);
}

#define NO_VIEW (-1)

/* What a link shows of the trace, and what it selects. */
static void a_view_stays_within_the_trace(void **state)
{
    static const struct {
        ex_view v;
        int64_t start, end;
        bool selects;
    } cases[] = {
        /* nothing is known of the trace: no room, lest the UI ignores it all */
        {{1000, 2000, -1, -1, true, false}, 1000, 2000, true},
        /* three tenths of it on each side: 0.4 as the UI reads it */
        {{1000, 2000, 0, 9000, true, false}, 700, 2300, true},
        {{1000, 2000, 900, 2100, true, false}, 900, 2100, true},
        {{1000, 2000, 1500, 1600, true, false}, 1000, 2000, true},
        {{0, 7, 0, 9, true, false}, 0, 9, true},
        {{0, INT64_MAX, 0, INT64_MAX, true, false}, 0, INT64_MAX, true},
        {{INT64_MAX - 10, INT64_MAX, 0, INT64_MAX, true, false}, INT64_MAX - 13, INT64_MAX, true},
        /* where the devices work: as it is */
        {{1000, 2000, 0, 9000, false, false}, 1000, 2000, false},
        {{-1, -1, -1, -1, false, false}, NO_VIEW, NO_VIEW, false},
        {{-1, 5, 0, 9, true, false}, NO_VIEW, NO_VIEW, false},
        {{5, -1, 0, 9, true, false}, NO_VIEW, NO_VIEW, false},
        {{5, 5, 0, 9, true, false}, NO_VIEW, NO_VIEW, false},
        {{6, 5, 0, 9, true, false}, NO_VIEW, NO_VIEW, false},
    };
    static char value[64];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vp_buf b;
        vp_buf_init(&b, 64u << 10);
        assert_int_equal(ex_perfetto_link(&b, "http://x", "http://x/", &cases[i].v), 0);
        const char *link = vp_buf_cstr(&b);
        assert_int_equal(strstr(link, "&ts=") != NULL, cases[i].selects);
        assert_int_equal(strstr(link, "&dur=") != NULL, cases[i].selects);
        assert_int_equal(strstr(link, "visStart") != NULL, cases[i].start != NO_VIEW);
        if (cases[i].start != NO_VIEW) {
            param(link, "visStart=", value);
            assert_int_equal(strtoll(value, NULL, 10), cases[i].start);
            param(link, "visEnd=", value);
            assert_int_equal(strtoll(value, NULL, 10), cases[i].end);
        }
        vp_buf_free(&b);
    }
}

/* A JSON's times are written without the multiple of 10^15 ns that its first event has. */
static void times_are_those_of_the_export(void **state)
{
    static const int64_t k = INT64_C(1000000000000000);
    const struct {
        ex_view v;
        int64_t time, want;
    } cases[] = {
        {{5, 9, -1, -1, true, true}, 5, 5},
        {{k - 1, k + 1, -1, -1, true, true}, k + 1, k + 1},
        {{k, k + 9, -1, -1, true, true}, k + 9, 9},
        {{1700 * k + 7, 1700 * k + 9, -1, -1, true, true}, 1700 * k + 9, 9},
        /* the trace begins before the range, on the other side of such a multiple */
        {{1700 * k + 7, 1700 * k + 9, 1700 * k - 3, 1700 * k + 90, true, true},
         1700 * k + 7,
         k + 7},
        {{1700 * k - 9, 1700 * k + 9, 1700 * k - 3, 1700 * k + 90, true, true},
         1700 * k + 7,
         k + 7},
        {{1700 * k + 7, 1700 * k + 9, -1, -1, true, false}, 1700 * k + 7, 1700 * k + 7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(ex_link_time(&cases[i].v, cases[i].time), cases[i].want);
}

static void a_full_buffer_fails(void **state)
{
    (void)state;
    vp_buf b;
    vp_buf_init(&b, 40);
    assert_int_equal(ex_perfetto_link(&b, "https://ui.perfetto.dev", "http://x/", &EX_VIEW_ALL),
                     VP_ELIMIT);
    vp_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percent_keeps_only_unreserved),
        cmocka_unit_test(commands_are_allowed),
        cmocka_unit_test(link_round_trips),
        cmocka_unit_test(without_a_trace_the_viewer_opens),
        cmocka_unit_test(a_view_stays_within_the_trace),
        cmocka_unit_test(times_are_those_of_the_export),
        cmocka_unit_test(a_full_buffer_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
