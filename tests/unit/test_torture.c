/* Whole commands with a machine that fails: list, analyse and print the sample profiles while one
 * allocation, or one read, goes wrong. Either the command fails with that very reason, or what it
 * prints is what it prints otherwise, or (for reads) it says that something is missing. Leaks are
 * the sanitizers' to see. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/report/report.h"

#define POINTS 64u /* failing points a command and mode, spread over all of them */

static const char *const profiles[] = {
    "cpu", "gpu", "tpu_inference", "pytorch", "reactant_runs.tar.gz",
};
#define PROFILES (sizeof profiles / sizeof *profiles)

typedef struct result {
    int rc;
    char *text;   /* all that was printed; NULL when rc < 0 */
    size_t notes; /* what the catalog and the report say about things that are missing */
} result;

static int print_all(vp_buf *b, const catalog *c, const vp_report *r)
{
    VP_TRY(rep_list_text(b, c, NULL));
    VP_TRY(rep_list_json(b, c));
    VP_TRY(rep_text(b, r, NULL));
    VP_TRY(rep_text_full(b, r, NULL));
    VP_TRY(rep_json(b, r, NULL));
    VP_TRY(rep_csv(b, r, NULL));
    return rep_html(b, r, NULL, NULL);
}

static size_t count_notes(const catalog *c)
{
    size_t n = catalog_note_count(c);
    for (size_t i = 0; i < catalog_count(c); i++) {
        const cat_session *s = catalog_get(c, i);
        n += s->why != NULL;
        for (size_t k = 0; k < s->file_count; k++)
            n += s->files[k].why != NULL;
    }
    return n;
}

static int command_on(vp_buf *b, const catalog *c, vp_group group, size_t *notes)
{
    vp_report_options opts = VP_REPORT_OPTIONS_INIT;
    const cat_session *s = catalog_latest(c);
    vp_report *r = NULL;
    *notes += count_notes(c);
    if (!s)
        return vp_error_last()->code;
    opts.jobs = 1;
    opts.group = group;
    VP_TRY(analyze_session(&r, c, s, &opts));
    *notes += r->quality_count;
    int rc = print_all(b, c, r);
    analyze_free(r);
    return rc;
}

/* One command from the path to the last byte. */
static result command(const char *profile, vp_group group)
{
    char path[4096];
    catalog *c = NULL;
    vp_buf b;
    result x = {0};
    snprintf(path, sizeof path, "%s/examples/profiles/%s", VP_SOURCE_DIR, profile);
    vp_buf_init(&b, (size_t)64 << 20);
    x.rc = catalog_open(&c, path, NULL);
    if (x.rc >= 0)
        x.rc = command_on(&b, c, group, &x.notes);
    catalog_free(c);
    if (x.rc >= 0)
        x.text = vp_buf_take(&b, &(size_t){0});
    if (x.rc >= 0 && !x.text)
        x.rc = b.status;
    vp_buf_free(&b);
    return x;
}

/* Where the outputs part, without printing all of both. */
static void must_be_whole(const result *x, const result *good, const char *profile, uint64_t k)
{
    size_t at = 0;
    while (x->text[at] && x->text[at] == good->text[at])
        at++;
    if (x->text[at] != good->text[at])
        fail_msg("%s, allocation %llu: \"%.80s\" instead of \"%.80s\"", profile,
                 (unsigned long long)k, x->text + at, good->text + at);
    assert_int_equal(x->notes, good->notes);
}

static void torture_memory(const char *profile, vp_group group, bool persist)
{
    vp_mem_fail_at(0, false);
    result good = command(profile, group);
    uint64_t all = vp_mem_fail_at(0, false), step = all / POINTS ? all / POINTS : 1;
    assert_int_equal(good.rc, 0);
    assert_true(all > 100);
    for (uint64_t k = 1; k <= all; k += k < POINTS / 2 ? 1 : step) {
        vp_mem_fail_at(k, persist);
        result x = command(profile, group);
        vp_mem_fail_at(0, false);
        if (x.rc == 0)
            must_be_whole(&x, &good, profile, k);
        else if (x.rc != VP_ENOMEM)
            fail_msg("%s, allocation %llu: %s (%d)", profile, (unsigned long long)k,
                     vp_error_last()->message, x.rc);
        vp_free(x.text);
    }
    vp_free(good.text);
}

static void no_allocation_is_missed_silently(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROFILES; i++)
        torture_memory(profiles[i], i % 2 ? VP_GROUP_SCOPE : VP_GROUP_NAME, false);
}

static void running_dry_ends_every_command(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROFILES; i++)
        torture_memory(profiles[i], VP_GROUP_NAME, true);
}

static void no_read_fails_silently(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROFILES; i++) {
        size_t whole = 0;
        result good = command(profiles[i], VP_GROUP_NAME);
        assert_int_equal(good.rc, 0);
        /* A command that did not reach its k-th call is whole; three in a row: there are no more */
        for (uint64_t k = 1; k < 400 && whole < 3; k++) {
            vp_fs_fail_at(k, EIO);
            result x = command(profiles[i], VP_GROUP_NAME);
            vp_fs_fail_at(0, 0);
            bool same = x.rc == 0 && strcmp(x.text, good.text) == 0;
            whole = same ? whole + 1 : 0;
            bool said = x.rc == VP_EIO || x.notes > (x.rc < 0 ? 0 : good.notes);
            if (!same && !said)
                fail_msg("%s, system call %llu: %s (%d)", profiles[i], (unsigned long long)k,
                         vp_error_last()->message, x.rc);
            vp_free(x.text);
        }
        assert_int_equal(whole, 3);
        vp_free(good.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_allocation_is_missed_silently),
        cmocka_unit_test(running_dry_ends_every_command),
        cmocka_unit_test(no_read_fails_silently),
    };
    return cmocka_run_group_tests_name("torture", tests, NULL, NULL);
}
