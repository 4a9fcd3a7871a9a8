/* What whoever got hold of the server could ask of the process outside the sandbox: a page of ours,
 * once, and no other address, option or command. */
#include "tests/unit/tree.h"

#include <time.h>

#include "server/local/outside.h"
#include "trace/base/err.h"

static tree dir;
static char browser[VP_PATH_MAX + 16], seen[VP_PATH_MAX + 16];

static int make_browser(void **state)
{
    (void)state;
    tree_make(&dir);
    snprintf(seen, sizeof seen, "%s/seen", dir.root);
    snprintf(browser, sizeof browser, "%s/browser", dir.root);
    FILE *f = fopen(browser, "w");
    fprintf(f, "#!/bin/sh\nprintf '%%s|' \"$#\" \"$@\" > '%s.new'\nmv '%s.new' '%s'\n", seen, seen,
            seen);
    fclose(f);
    chmod(browser, 0755);
    setenv("BROWSER", browser, 1);
    return 0;
}

static int remove_browser(void **state)
{
    (void)state;
    tree_remove(&dir);
    return 0;
}

/* What the browser was started with, or "" when it was not within the time. */
static const char *started(int wait_ms)
{
    static char text[VP_PATH_MAX];
    const struct timespec step = {0, 10 * 1000000};
    text[0] = 0;
    FILE *f = NULL;
    for (int ms = 0; ms < wait_ms && !(f = fopen(seen, "r")); ms += 10)
        nanosleep(&step, NULL);
    if (!f)
        return text;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    unlink(seen);
    return text;
}

static void a_page_is_opened_once(void **state)
{
    static const struct {
        browser_page page;
        const char *args;
    } rows[] = {
        {{"127.0.0.1", 9001, "", BROWSER_LIST, ""}, "1|http://127.0.0.1:9001/|"},
        {{"::1", 80, "/a/b", BROWSER_PERFETTO, "run_1.x~0a"},
         "1|http://[::1]:80/a/b/perfetto/run_1.x~0a|"},
        {{"127.8.9.1", 65535, "", BROWSER_SESSION, "-x"}, "1|http://127.8.9.1:65535/session/-x/|"},
        {{"127.0.0.1", 1, "", BROWSER_TENSORBOARD, "r"}, "1|http://127.0.0.1:1/tensorboard/r|"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(outside_start(OUTSIDE_BROWSER), 0);
        assert_int_equal(outside_open_browser(&rows[i].page), 0);
        assert_string_equal(started(20000), rows[i].args);
        assert_false(outside_runs(OUTSIDE_BROWSER));
        assert_true(outside_open_browser(&rows[i].page) < 0);
        assert_string_equal(started(100), "");
    }
}

static void nothing_else_is_opened(void **state)
{
    static const browser_page rows[] = {
        {"--utility-cmd-prefix=/bin/sh", 9001, "", BROWSER_LIST, ""},
        {"127.0.0.1 -c id", 9001, "", BROWSER_LIST, ""},
        {"evil.example", 9001, "", BROWSER_LIST, ""},
        {"192.0.2.1", 9001, "", BROWSER_LIST, ""},
        {"::2", 9001, "", BROWSER_LIST, ""},
        {"", 9001, "", BROWSER_LIST, ""},
        {"127.0.0.1", 0, "", BROWSER_LIST, ""},
        {"127.0.0.1", 9001, "@evil.example", BROWSER_LIST, ""},
        {"127.0.0.1", 9001, "/a b", BROWSER_LIST, ""},
        {"127.0.0.1", 9001, "/%s", BROWSER_LIST, ""},
        {"127.0.0.1", 9001, "", BROWSER_SESSION, "a b"},
        {"127.0.0.1", 9001, "", BROWSER_SESSION, "a/../b"},
        {"127.0.0.1", 9001, "", BROWSER_SESSION, "../b"},
        {"127.0.0.1", 9001, "", BROWSER_SESSION, "\n--x"},
        {"127.0.0.1", 9001, "", BROWSER_SESSION, ""},
        {"127.0.0.1", 9001, "", (browser_view)7, "a"},
        {"127.0.0.1", 9001, "", (browser_view)-1, "a"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(outside_start(OUTSIDE_BROWSER), 0);
        assert_int_equal(outside_open_browser(&rows[i]), VP_EREFUSED);
    }
    browser_page unended = {"127.0.0.1", 9001, "", BROWSER_SESSION, ""};
    memset(unended.id, 'a', sizeof unended.id);
    assert_int_equal(outside_start(OUTSIDE_BROWSER), 0);
    assert_int_equal(outside_open_browser(&unended), VP_EREFUSED);
    assert_string_equal(started(300), "");
}

/* Each answers its own questions only. */
static void no_other_question_is_answered(void **state)
{
    static const browser_page page = {"127.0.0.1", 9001, "", BROWSER_LIST, ""};
    char here[VP_PATH_MAX], said[VP_PATH_MAX];
    (void)state;
    assert_int_equal(outside_start(OUTSIDE_LOOKUP), 0);
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(outside_directory(said, sizeof said, getpid()), 0);
    assert_string_equal(said, here);
    assert_true(outside_open_browser(&page) < 0);
    assert_string_equal(started(100), "");
    outside_end(OUTSIDE_LOOKUP);
    assert_false(outside_runs(OUTSIDE_LOOKUP));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_opened_once),
        cmocka_unit_test(nothing_else_is_opened),
        cmocka_unit_test(no_other_question_is_answered),
    };
    return cmocka_run_group_tests(tests, make_browser, remove_browser);
}
