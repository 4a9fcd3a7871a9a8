/* The C API's viewer: handles, options, addresses, and what a failure leaves behind. */
#include "tests/unit/tree.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "include/view_profile.h"

#define PLAIN                                                                                      \
    "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":7,\"name\":\"a\"},"      \
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":7,\"dur\":3,\"name\":\"b\"}]}"

static tree dir;

static int make_runs(void **state)
{
    (void)state;
    tree_make(&dir);
    tree_text(&dir, "plugins/profile/2026_01_02_03_04_05/h.trace.json", PLAIN, 1700000001);
    tree_text(&dir, "plugins/profile/2026_01_03_03_04_05/h.trace.json", PLAIN, 1700000002);
    unsetenv("VIEW_PROFILE_DIR");
    unsetenv("XAX_PROFILE_DIR");
    return 0;
}

static int remove_runs(void **state)
{
    (void)state;
    tree_remove(&dir);
    return 0;
}

static int port_of(const char *url)
{
    static const char want[] = "http://127.0.0.1:";
    assert_memory_equal(url, want, sizeof want - 1);
    return (int)strtol(url + sizeof want - 1, NULL, 10);
}

/* The status of one GET, by the shortest client there is. */
static int get(const char *url)
{
    char request[600], answer[32] = "";
    int port = port_of(url), fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *path = strchr(url + 7, '/');
    int n =
        snprintf(request, sizeof request,
                 "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n", path, port);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(write(fd, request, (size_t)n), n);
    assert_int_equal(recv(fd, answer, 12, MSG_WAITALL), 12);
    close(fd);
    return (int)strtol(answer + 9, NULL, 10);
}

static void sessions_come_newest_first(void **state)
{
    vp_catalog *c = NULL;
    const vp_session *s = NULL, *same = NULL;
    (void)state;
    assert_int_equal(vp_catalog_open(&c, dir.root), 0);
    assert_int_equal(vp_catalog_count(c), 2);
    assert_int_equal(vp_catalog_session(&s, c, 0), 0);
    assert_string_equal(vp_session_name(s), "2026_01_03_03_04_05");
    assert_int_equal(vp_catalog_latest(&same, c), 0);
    assert_ptr_equal(s, same);
    assert_int_equal(vp_catalog_find(&same, c, "2026_01_02_03_04_05"), 0);
    assert_true(vp_session_captured_unix_ns(same) < vp_session_captured_unix_ns(s));
    same = NULL;
    assert_int_equal(vp_catalog_session(&same, c, 2), VP_ENOTFOUND);
    assert_int_equal(vp_catalog_find(&same, c, "no such run"), VP_ENOTFOUND);
    assert_null(same);
    vp_catalog_free(c);
    vp_catalog_free(NULL);
    assert_int_equal(vp_catalog_count(NULL), 0);
}

static void a_report_is_written_in_every_format(void **state)
{
    static const char *const begins[] = {"", "{\"schema\":\"view_profile.report/1\"", "",
                                         "<!doctype html>"};
    vp_catalog *c;
    const vp_session *s;
    vp_report *r = NULL;
    vp_report_options bad = VP_REPORT_OPTIONS_INIT;
    vp_view other = VP_VIEW_INIT;
    (void)state;
    assert_int_equal(vp_catalog_open(&c, dir.root), 0);
    assert_int_equal(vp_catalog_latest(&s, c), 0);
    bad.version = 7;
    assert_int_equal(vp_report_make(&r, c, s, &bad), VP_EVERSION);
    assert_null(r);
    assert_int_equal(vp_report_make(&r, c, s, NULL), 0);
    for (int f = VP_FORMAT_TEXT; f <= VP_FORMAT_HTML; f++) {
        char head[64] = "";
        int fd;
        assert_int_equal(vp_fs_temp(&fd), 0);
        assert_int_equal(vp_report_write(r, (vp_format)f, NULL, fd), 0);
        assert_true(pread(fd, head, sizeof head - 1, 0) > 0);
        assert_int_equal(strncasecmp(head, begins[f], strlen(begins[f])), 0);
        close(fd);
    }
    assert_int_equal(vp_report_write(r, (vp_format)9, NULL, 1), VP_EARG);
    assert_int_equal(vp_report_write(r, VP_FORMAT_JSON, NULL, -1), VP_EIO);
    other.version = 2;
    assert_int_equal(vp_report_write(r, VP_FORMAT_TEXT, &other, 1), VP_EVERSION);
    vp_report_free(r);
    vp_report_free(NULL);
    vp_catalog_free(c);
}

static off_t exported(const vp_catalog *c, const vp_session *s, vp_export_form form,
                      const vp_export_options *o, char *head, size_t cap)
{
    struct stat st;
    int fd;
    memset(head, 0, cap);
    assert_int_equal(vp_fs_temp(&fd), 0);
    assert_int_equal(vp_export_write(c, s, form, o, fd), 0);
    assert_true(pread(fd, head, cap - 1, 0) > 0);
    assert_int_equal(fstat(fd, &st), 0);
    close(fd);
    return st.st_size;
}

static void a_timeline_is_written_in_both_forms(void **state)
{
    vp_export_options o = VP_EXPORT_OPTIONS_INIT;
    vp_catalog *c;
    const vp_session *s;
    char head[64], again[64];
    (void)state;
    assert_int_equal(vp_catalog_open(&c, dir.root), 0);
    assert_int_equal(vp_catalog_latest(&s, c), 0);
    off_t json = exported(c, s, VP_EXPORT_PERFETTO_JSON, NULL, head, sizeof head);
    assert_non_null(strstr(head, "traceEvents"));
    assert_int_equal(exported(c, s, VP_EXPORT_PERFETTO_JSON, &o, again, sizeof again), json);
    assert_string_equal(again, head);
    exported(c, s, VP_EXPORT_PFTRACE, NULL, head, sizeof head);
    assert_int_equal(head[0], 0x0a); /* field 1 of a trace: its packets */
    o.window_start_ns = INT64_C(1) << 60;
    o.window_end_ns = o.window_start_ns + 1;
    assert_true(exported(c, s, VP_EXPORT_PERFETTO_JSON, &o, head, sizeof head) < json);
    o.window_end_ns = 1;
    assert_int_equal(vp_export_write(c, s, VP_EXPORT_PFTRACE, &o, 1), VP_EARG);
    o = (vp_export_options)VP_EXPORT_OPTIONS_INIT;
    o.host = "nobody";
    assert_int_equal(vp_export_write(c, s, VP_EXPORT_PFTRACE, &o, 1), VP_EEMPTY);
    assert_non_null(strstr(vp_error_last()->message, "nobody"));
    o.version = 2;
    assert_int_equal(vp_export_write(c, s, VP_EXPORT_PFTRACE, &o, 1), VP_EVERSION);
    assert_int_equal(vp_export_write(c, s, (vp_export_form)5, NULL, 1), VP_EARG);
    assert_int_equal(vp_export_write(c, NULL, VP_EXPORT_PFTRACE, NULL, 1), VP_EARG);
    assert_int_equal(vp_export_write(c, s, VP_EXPORT_PFTRACE, NULL, -1), VP_EIO);
    vp_catalog_free(c);
}

static void a_server_answers_until_it_is_stopped(void **state)
{
    vp_open_options o = VP_OPEN_OPTIONS_INIT;
    vp_server *s = NULL, *second = NULL;
    (void)state;
    o.port = 0;
    assert_int_equal(vp_server_start(&s, dir.root, &o), 0);
    assert_int_equal(get(vp_server_url(s)), 200);
    o.port = port_of(vp_server_url(s));
    assert_int_equal(vp_server_start(&second, dir.root, &o), VP_EBUSY);
    assert_null(second);
    vp_server_stop(s);
    assert_int_equal(vp_server_start(&second, dir.root, &o), 0); /* the port is free again */
    vp_server_stop(second);
    vp_server_stop(NULL);
}

static void bad_options_are_named(void **state)
{
    vp_server *s = NULL;
    vp_open_options o = VP_OPEN_OPTIONS_INIT;
    (void)state;
    o.port = 70000;
    assert_int_equal(vp_server_start(&s, dir.root, &o), VP_EARG);
    o = (vp_open_options)VP_OPEN_OPTIONS_INIT;
    o.ui = "gopher";
    assert_int_equal(vp_server_start(&s, dir.root, &o), VP_EARG);
    assert_non_null(strstr(vp_error_last()->message, "gopher"));
    o = (vp_open_options)VP_OPEN_OPTIONS_INIT;
    o.version = 0;
    assert_int_equal(vp_server_start(&s, dir.root, &o), VP_EVERSION);
    assert_non_null(strstr(vp_error_last()->message, "VP_OPEN_OPTIONS_INIT"));
    o = (vp_open_options)VP_OPEN_OPTIONS_INIT;
    o.port = 0;
    assert_int_equal(vp_server_start(&s, "/nonexistent/directory", &o), VP_ENOTFOUND);
    assert_int_equal(vp_server_start(&s, NULL, &o), VP_EARG);
    assert_null(s);
}

static void the_viewer_opens_the_newest_session(void **state)
{
    static const struct {
        const char *ui, *page;
    } rows[] = {{"both", "/session/2026_01_03_03_04_05/"},
                {"none", "/session/2026_01_03_03_04_05/"},
                {"perfetto", "/perfetto/2026_01_03_03_04_05"},
                {"tensorboard", "/tensorboard/2026_01_03_03_04_05"}};
    vp_open_options o = VP_OPEN_OPTIONS_INIT;
    (void)state;
    o.port = 0;
    o.open_browser = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vp_viewer *v = NULL;
        o.ui = rows[i].ui;
        assert_int_equal(vp_open_latest(&v, dir.root, &o), 0);
        assert_string_equal(strchr(vp_viewer_url(v) + 7, '/'), rows[i].page);
        if (i < 3)
            assert_int_equal(get(vp_viewer_url(v)), 200);
        vp_viewer_close(v);
    }
    vp_viewer_close(NULL);
}

static void the_directory_may_come_from_the_environment(void **state)
{
    vp_open_options o = VP_OPEN_OPTIONS_INIT;
    vp_viewer *v = NULL;
    tree empty;
    (void)state;
    o.port = 0;
    o.open_browser = false;
    assert_int_equal(vp_open_latest(&v, NULL, &o), VP_EARG);
    setenv("XAX_PROFILE_DIR", "/nonexistent/directory", 1);
    assert_int_equal(vp_open_latest(&v, NULL, &o), VP_ENOTFOUND);
    setenv("VIEW_PROFILE_DIR", dir.root, 1); /* asked first */
    assert_int_equal(vp_open_latest(&v, NULL, &o), 0);
    vp_viewer_close(v);
    tree_make(&empty);
    v = NULL;
    assert_int_equal(vp_open_latest(&v, empty.root, &o), VP_ENOTFOUND);
    assert_null(v);
    tree_remove(&empty);
    unsetenv("VIEW_PROFILE_DIR");
    unsetenv("XAX_PROFILE_DIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_come_newest_first),
        cmocka_unit_test(a_report_is_written_in_every_format),
        cmocka_unit_test(a_timeline_is_written_in_both_forms),
        cmocka_unit_test(a_server_answers_until_it_is_stopped),
        cmocka_unit_test(bad_options_are_named),
        cmocka_unit_test(the_viewer_opens_the_newest_session),
        cmocka_unit_test(the_directory_may_come_from_the_environment),
    };
    return cmocka_run_group_tests_name("server", tests, make_runs, remove_runs);
}
