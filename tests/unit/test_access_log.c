/* A line of the access log: nothing that a client sends can end it, forge another or steer a
 * terminal, and no token gets into it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>

#include "server/net/request/access_log.h"

#define SECRET "0123456789abcdef0123456789abcdef"

static access_entry entry(vp_str target)
{
    return (access_entry){.unix_ns = INT64_C(1767323045123456789), /* 2026-01-02 03:04:05.123 UTC */
                          .took_ns = 1500000,
                          .remote = "192.0.2.1",
                          .method = VP_STR("GET"),
                          .target = target,
                          .version = VP_STR("HTTP/1.1"),
                          .route = "/session/{}/",
                          .status = 200,
                          .bytes = 12};
}

static char *line_of(const access_entry *e, bool json, const char *secret)
{
    vp_buf b;
    size_t n;
    vp_buf_init(&b, 1u << 20);
    access_log_format(&b, e, json, secret);
    assert_int_equal(b.status, 0);
    char *line = vp_buf_take(&b, &n);
    assert_int_equal(strlen(line), n); /* no NUL inside */
    assert_ptr_equal(strchr(line, '\n'), line + n - 1);
    return line;
}

static void the_combined_form_is_exact(void **state)
{
    access_entry e = entry(VP_STR("/session/a/?n=5"));
    (void)state;
    e.referer = VP_STR("http://h/");
    e.agent = VP_STR("Mozilla/5.0");
    char *line = line_of(&e, false, NULL);
    assert_string_equal(line, "192.0.2.1 - - [02/Jan/2026:03:04:05 +0000] \"GET /session/a/?n=5 "
                              "HTTP/1.1\" 200 12 \"http://h/\" \"Mozilla/5.0\"\n");
    free(line);
    e.bytes = -1; /* cut off */
    e.referer = e.agent = VP_STR_NONE;
    line = line_of(&e, false, NULL);
    assert_non_null(strstr(line, " 200 - \"-\" \"-\"\n"));
    free(line);
}

static void json_is_json(void **state)
{
    access_entry e = entry(VP_STR("/session/a/"));
    json_t *o;
    (void)state;
    e.bytes = -1;
    char *line = line_of(&e, true, NULL);
    o = json_loads(line, 0, NULL);
    assert_non_null(o);
    assert_string_equal(json_string_value(json_object_get(o, "time")), "2026-01-02T03:04:05.123Z");
    assert_string_equal(json_string_value(json_object_get(o, "route")), "/session/{}/");
    assert_int_equal(json_integer_value(json_object_get(o, "took_us")), 1500);
    assert_true(json_is_null(json_object_get(o, "bytes")));
    json_decref(o);
    free(line);
}

/* Every byte there is, in every place that a client fills. */
static void no_byte_escapes(void **state)
{
    char all[256];
    vp_str s = {all, sizeof all};
    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    access_entry e = entry(s);
    e.method = e.version = e.referer = e.agent = s;
    for (int json = 0; json < 2; json++) {
        char *line = line_of(&e, json, SECRET);
        for (const unsigned char *p = (const unsigned char *)line; p[1]; p++)
            assert_true(*p >= 0x20 && *p != 0x7f);
        if (json) {
            json_t *o = json_loads(line, JSON_ALLOW_NUL, NULL);
            assert_non_null(o);
            assert_int_equal(json_object_size(o), 11);
            json_decref(o);
        } else {
            size_t quotes = 0; /* three fields of two each: none came from inside */
            for (const char *p = line; *p; p++)
                quotes += *p == '"';
            assert_int_equal(quotes, 6);
        }
        free(line);
    }
}

static void tokens_stay_out(void **state)
{
    static const struct {
        const char *target, *shown;
    } rows[] = {
        {"/?token=" SECRET, "/?token=[token]"},
        {"/?token=mistyped", "/?token=[token]"},
        {"/?a=1&token=x&b=2", "/?a=1&token=[token]&b=2"},
        {"/?TOKEN=x", "/?TOKEN=[token]"},
        {"/?%74oken=x", "/?%74oken=[token]"},
        {"/?t%6fken=x&t=%20", "/?t%6fken=[token]&t=%20"},
        {"/?a=" SECRET "&b", "/?a=[token]&b"},
        {"/" SECRET "/" SECRET, "/[token]/[token]"},
        {"/?token", "/?token"},
        {"/?token=", "/?token=[token]"},
        {"/?", "/?"},
        {"/?&&a", "/?&&a"},
        {"/a?b?token=x", "/a?b?token=x"}, /* a key "b?token" is another one */
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        access_entry e = entry(vp_str_of(rows[i].target));
        e.referer = e.target;
        e.agent = VP_STR("curl " SECRET);
        char wanted[400], *line = line_of(&e, false, SECRET);
        snprintf(wanted, sizeof wanted, "\"GET %s HTTP/1.1\" 200 12 \"%s\" \"curl [token]\"\n",
                 rows[i].shown, rows[i].shown[0] ? rows[i].shown : "-");
        assert_non_null(strstr(line, wanted));
        free(line);
    }
}

static void lines_reach_the_file_in_order(void **state)
{
    char path[] = "/tmp/vp_log_XXXXXX", text[32];
    access_log *log;
    int fd = mkstemp(path), n = 0;
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(access_log_open(&log, path, false, NULL), 0);
    for (int i = 0; i < 500; i++) {
        snprintf(text, sizeof text, "/%d", i);
        access_entry e = entry(vp_str_of(text));
        access_log_put(log, &e);
    }
    access_log_close(log);
    FILE *f = fdopen(fd, "r");
    char line[512];
    for (; fgets(line, sizeof line, f); n++) {
        snprintf(text, sizeof text, "\"GET /%d HTTP", n);
        assert_non_null(strstr(line, text));
    }
    assert_int_equal(n, 500);
    fclose(f);
    unlink(path);
}

/* /dev/full takes no byte: the server goes on, and ends. */
static void a_full_disk_stops_nothing(void **state)
{
    access_log *log;
    (void)state;
    assert_int_equal(access_log_open(&log, "/dev/full", true, NULL), 0);
    for (int i = 0; i < 20000; i++) {
        access_entry e = entry(VP_STR("/"));
        access_log_put(log, &e);
    }
    access_log_close(log);
    assert_true(access_log_open(&log, "/no/such/directory/log", false, NULL) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_combined_form_is_exact),
        cmocka_unit_test(json_is_json),
        cmocka_unit_test(no_byte_escapes),
        cmocka_unit_test(tokens_stay_out),
        cmocka_unit_test(lines_reach_the_file_in_order),
        cmocka_unit_test(a_full_disk_stops_nothing),
    };
    return cmocka_run_group_tests_name("access_log", tests, NULL, NULL);
}
