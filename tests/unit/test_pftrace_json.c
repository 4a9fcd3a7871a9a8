/* A .pftrace of Trace Event JSON begins to arrive before the file was read a second time. What it
 * holds: tests/golden/test_pftrace_json.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/mem.h"
#include "trace/export/export.h"

/* A file, how often it was opened, and how often the last stream of it was asked for more. */
typedef struct file {
    const char *text;
    unsigned opened, asked;
} file;

typedef struct watched {
    rd_stream s; /* first member */
    rd_stream *of;
    file *f;
} watched;

static int watched_next(rd_stream *s, char **p, size_t *n)
{
    watched *w = (watched *)(void *)s;
    w->f->asked++;
    return w->of->next(w->of, p, n);
}

static void watched_close(rd_stream *s)
{
    watched *w = (watched *)(void *)s;
    rd_stream_close(&w->of);
    vp_free(w);
}

static int open_file(void *ctx, rd_stream **out)
{
    file *f = ctx;
    watched *w = vp_calloc(1, sizeof *w);
    assert_non_null(w);
    *w = (watched){.s = {.next = watched_next, .close = watched_close, .total = -1}, .f = f};
    assert_int_equal(rd_stream_memory(&w->of, f->text, strlen(f->text), 16), 0);
    f->opened++;
    f->asked = 0;
    *out = &w->s;
    return 0;
}

static void tracks_arrive_before_the_second_pass(void **state)
{
    (void)state;
    file f = {.text = "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2,"
                      "\"name\":\"sleep\"},{\"ph\":\"C\",\"pid\":1,\"ts\":3,\"name\":\"heap\","
                      "\"args\":{\"bytes\":7}}]}"};
    rd_stream *s;
    char *p;
    size_t n, all = 0;
    int rc;
    assert_int_equal(ex_pftrace_from_json(&s, &(ex_input){open_file, &f}, NULL), 0);
    assert_int_equal(f.opened, 2);
    assert_int_equal(f.asked, 0);
    assert_int_equal(s->next(s, &p, &n), 1);
    assert_true(n > 0);
    assert_int_equal(f.asked, 0);
    while ((rc = s->next(s, &p, &n)) > 0)
        all += n;
    assert_int_equal(rc, 0);
    assert_true(f.asked > 0);
    assert_true(all > 0);
    rd_stream_close(&s);
}

static void what_is_not_read_is_freed(void **state)
{
    (void)state;
    file f = {.text = "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2}]}"};
    rd_stream *s;
    assert_int_equal(ex_pftrace_from_json(&s, &(ex_input){open_file, &f}, NULL), 0);
    rd_stream_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_arrive_before_the_second_pass),
        cmocka_unit_test(what_is_not_read_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
