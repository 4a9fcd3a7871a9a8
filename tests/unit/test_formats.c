/* What the rows of formats promise: who reads and exports what, and which half of a host is sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/err.h"
#include "trace/export/exporters.h"
#include "trace/model/catalog/timeline.h"

static void expect_named(int rc, rd_format f)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", rd_format_name(f));
    assert_int_equal(rc, VP_EUNSUPPORTED);
    if (!strstr(vp_error_last()->message, quoted))
        fail_msg("%s is not named: %s", quoted, vp_error_last()->message);
}

/* No format is taken for another: what has no reader is refused by its own name. */
static void test_refused_by_name(void **state)
{
    static const rd_format unread[] = {RD_UNKNOWN, RD_PPROF, RD_SNAPSHOT,
                                       RD_ARCHIVE, RD_CACHE, RD_UNREADABLE};
    (void)state;
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++) {
        cat_file f = {.kind.format = unread[i]};
        vp_error damage = {.code = 1};
        rd_stream *s = NULL;
        expect_named(timeline_read(NULL, NULL, &f, NULL, &damage), unread[i]);
        assert_int_equal(damage.code, 0);
        expect_named(ex_open(&s, EX_JSON, NULL, &f, NULL), unread[i]);
        expect_named(ex_open(&s, EX_PFTRACE, NULL, &f, NULL), unread[i]);
        assert_null(s);
    }
}

static void test_rows(void **state)
{
    (void)state;
    for (int f = 0; f < RD_FORMAT_COUNT; f++) {
        bool timeline = rd_is_timeline((rd_format)f);
        assert_true(strlen(rd_formats[f].name) && strlen(rd_formats[f].session));
        for (int g = 0; g < f; g++)
            assert_string_not_equal(rd_formats[f].name, rd_formats[g].name);
        assert_int_equal(timeline, rd_formats[f].role <= RD_ALONE);
        assert_true(!timeline || strlen(rd_formats[f].suffix));
        assert_true(timeline || !rd_formats[f].text);
    }
    assert_true(timeline_same_reader(RD_XLA_JSON, RD_KINETO));
    assert_false(timeline_same_reader(RD_XLA_JSON, RD_XSPACE));
    assert_false(timeline_same_reader(RD_VPCAP, RD_XSPACE));
    assert_true(rd_formats[RD_CHROME].text && !rd_formats[RD_XSPACE].text);
}

typedef struct half_case {
    rd_format first, second; /* RD_UNKNOWN: there is none */
    bool first_why;
    int json,
        other; /* index of the file that is exported, and of the one that may stand in; or -1 */
    int pftrace;
} half_case;

static void expect_file(const cat_file *files, const cat_file *f, int index)
{
    assert_ptr_equal(f, index < 0 ? NULL : &files[index]);
}

static void test_halves(void **state)
{
    static const half_case cases[] = {
        {RD_XSPACE, RD_UNKNOWN, false, 0, -1, 0},
        {RD_KINETO, RD_UNKNOWN, false, 0, -1, 0},
        {RD_VPCAP, RD_UNKNOWN, false, 0, -1, 0},
        {RD_XSPACE, RD_XLA_JSON, false, 0, 1, 0},
        {RD_XSPACE, RD_XLA_JSON, true, 1, -1, 1}, /* all that there is */
        {RD_XSPACE, RD_UNKNOWN, true, -1, -1, -1},
        {RD_PPROF, RD_UNKNOWN, false, -1, -1, -1}, /* nobody exports it */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const half_case *k = &cases[i];
        cat_file files[] = {
            {.kind.format = k->first, .why = k->first_why ? "damaged" : NULL},
            {.kind.format = k->second},
        };
        cat_session s = {.files = files, .file_count = 2};
        cat_host h = {.secondary = k->second == RD_UNKNOWN ? UINT32_MAX : 1};
        const cat_file *sent = ex_half(EX_JSON, &s, &h);
        expect_file(files, sent, k->json);
        if (sent)
            expect_file(files, ex_other_half(EX_JSON, &s, &h, sent), k->other);
        expect_file(files, ex_half(EX_PFTRACE, &s, &h), k->pftrace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_by_name),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
