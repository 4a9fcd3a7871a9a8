/* Unpacking with a machine that fails: whatever goes wrong and when, every file that has a name is
 * whole, nothing lies beside the directory, and the next run finishes the work. Then the ledger and
 * temporary trees by themselves. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/tree.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/system/temp_tree.h"
#include "trace/model/unpack/extract.h"
#include "trace/model/unpack/ledger.h"

#define ARCHIVE VP_SOURCE_DIR "/examples/profiles/reactant_runs.tar.gz"
#define POINTS 4000u /* more than there are: the distance grows */
#define MISSES 8u

/* ---- Whole runs ------------------------------------------------------------------------------ */

typedef struct outcome {
    int rc;
    extract_counts counts;
} outcome;

static int one_run(outcome *o, const catalog *c, const char *dir)
{
    unpack *to = NULL;
    extract_options how = {.packed_only = false};
    VP_TRY(unpack_open(&to, dir, NULL));
    int rc = extract_run(&o->counts, to, c, &how);
    unpack_close(to);
    return rc;
}

/* Names and contents of what a user sees, in one number; *n counts the files. */
static uint64_t sum_of(const char *dir, size_t *n);

static uint64_t seen_sum;
static size_t seen_count;
static size_t seen_root;

static int add_file(const char *path, const struct stat *st, int type, struct FTW *where)
{
    const char *name = path + where->base;
    if (type != FTW_F || name[0] == '.')
        return 0;
    char *bytes = malloc((size_t)st->st_size + 1);
    size_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && bytes);
    assert_int_equal(vp_fs_pread(fd, bytes, (size_t)st->st_size, 0, &got), 0);
    assert_int_equal(got, st->st_size);
    seen_sum +=
        vp_fingerprint(bytes, got, vp_fingerprint(path + seen_root, strlen(path + seen_root), 1));
    seen_count++;
    close(fd);
    free(bytes);
    return 0;
}

static uint64_t sum_of(const char *dir, size_t *n)
{
    seen_sum = seen_count = 0;
    seen_root = strlen(dir);
    nftw(dir, add_file, 16, FTW_PHYS);
    *n = seen_count;
    return seen_sum;
}

typedef struct wanted {
    uint64_t sum;
    size_t files;
} wanted;

static void fail_nothing(void)
{
    vp_mem_fail_at(0, false);
    vp_fs_fail_at(0, 0);
}

/* One run that fails at `point`, and one that does not. true while there was such a point. */
static bool try_point(const catalog *c, uint64_t point, bool memory, const wanted *w)
{
    tree t;
    outcome o = {.rc = 0};
    size_t n;
    tree_make(&t);
    char dir[VP_PATH_MAX + 8];
    snprintf(dir, sizeof dir, "%s/o", t.root);
    if (memory)
        vp_mem_fail_at(point, false);
    else
        vp_fs_fail_at(point, ENOSPC);
    o.rc = one_run(&o, c, dir);
    fail_nothing();
    bool hit = o.rc < 0 || o.counts.left_out;
    if (!hit)
        assert_true(sum_of(dir, &n) == w->sum);
    assert_int_equal(one_run(&o, c, dir), 0);
    assert_int_equal(o.counts.left_out, 0);
    assert_int_equal(o.counts.made + o.counts.kept, w->files);
    assert_true(sum_of(dir, &n) == w->sum);
    assert_int_equal(n, w->files);
    assert_int_equal(access(tree_at(&t, "o/.view_profile.tmp"), F_OK), -1);
    tree_remove(&t);
    return hit;
}

static void try_points(bool memory)
{
    catalog *c = NULL;
    tree t;
    outcome o = {.rc = 0};
    wanted w;
    tree_make(&t);
    char dir[VP_PATH_MAX + 8];
    snprintf(dir, sizeof dir, "%s/o", t.root);
    assert_int_equal(catalog_open(&c, ARCHIVE, NULL), 0);
    assert_int_equal(one_run(&o, c, dir), 0);
    assert_int_equal(o.counts.made, 4);
    w.sum = sum_of(dir, &w.files);
    assert_int_equal(w.files, 4);
    tree_remove(&t);
    size_t hits = 0, misses = 0; /* some allocations may fail without harm */
    for (uint64_t point = 1; point <= POINTS && misses < MISSES; point += 1 + point / 16) {
        bool hit = try_point(c, point, memory, &w);
        hits += hit;
        misses = hit ? 0 : misses + 1;
    }
    assert_true(hits > 10);
    catalog_free(c);
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    try_points(true);
}

static void test_every_read_and_write_fails_once(void **state)
{
    (void)state;
    try_points(false);
}

/* ---- The ledger ------------------------------------------------------------------------------ */

static int open_ledger(tree *t, ledger *l)
{
    int dir = open(t->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(dir >= 0);
    int rc = ledger_open(l, dir);
    close(dir);
    return rc;
}

static void test_ledger_keeps_any_name(void **state)
{
    (void)state;
    static const char *const names[] = {"a",   " ", "%", "%41", "a b/c\nd", "\x01\x7f\xff\xfe",
                                        "é/!x"};
    enum { N = sizeof names / sizeof *names };
    tree t;
    ledger l;
    tree_make(&t);
    assert_int_equal(open_ledger(&t, &l), 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(ledger_add(&l, &(ledger_entry){names[i], names[N - 1 - i], i, -i,
                                                        i % 2 ? -1 : INT64_MAX, 7}),
                         0);
    assert_int_equal(ledger_add(&l, &(ledger_entry){"a", "b", 1, 2, 3, 4}), 0);
    ledger_close(&l);
    assert_int_equal(open_ledger(&t, &l), 0);
    for (int i = 1; i < N; i++) {
        const ledger_entry *e = ledger_of_source(&l, names[i]);
        assert_non_null(e);
        assert_string_equal(e->target, names[N - 1 - i]);
        assert_int_equal(e->size, i);
        assert_int_equal(e->mtime_ns, -i);
        assert_true(e->member == (i % 2 ? -1 : INT64_MAX));
        assert_ptr_equal(ledger_of_target(&l, names[N - 1 - i]), e);
    }
    /* The last line of a source counts. */
    assert_string_equal(ledger_of_source(&l, "a")->target, "b");
    assert_null(ledger_of_source(&l, "A"));
    assert_null(ledger_of_target(&l, "x"));
    ledger_close(&l);
    tree_remove(&t);
}

#define HEAD "view_profile.unpacked 1\n"

static void expect_ledger(const char *text, int code, size_t count)
{
    tree t;
    ledger l;
    tree_make(&t);
    tree_text(&t, LEDGER_NAME, text, 1);
    assert_int_equal(open_ledger(&t, &l), code);
    if (code == 0) {
        assert_int_equal(l.count, count);
        ledger_close(&l);
    }
    tree_remove(&t);
}

static void test_ledgers_that_are_none(void **state)
{
    (void)state;
    expect_ledger("", 0, 0);
    expect_ledger(HEAD, 0, 0);
    expect_ledger(HEAD "1 2 3 4 a b\n", 0, 1);
    expect_ledger(HEAD "1 2 3 4 a b\n1 2 3", 0, 1); /* cut off by a kill */
    expect_ledger("view_profile.unpacked 1", VP_EREFUSED, 0);
    expect_ledger("view_profile.unpacked 2\n", VP_EREFUSED, 0);
    expect_ledger("#!/bin/sh\n", VP_EREFUSED, 0);
    expect_ledger(HEAD "\n", VP_ECORRUPT, 0);
    expect_ledger(HEAD "1 2 3 4 a\n", VP_ECORRUPT, 0);
    expect_ledger(HEAD "1 2 3 x a b\n", VP_ECORRUPT, 0);
    expect_ledger(HEAD "99999999999999999999 2 3 4 a b\n", VP_ECORRUPT, 0);
    expect_ledger(HEAD "1 2 3 4 a%0 b\n", VP_ECORRUPT, 0);
    expect_ledger(HEAD "1 2 3 4 a%00 b\n", VP_ECORRUPT, 0);
    expect_ledger(HEAD "1 2 3 4 a%zz b\n", VP_ECORRUPT, 0);
}

static void test_one_at_a_time(void **state)
{
    (void)state;
    tree t;
    ledger first, second;
    tree_make(&t);
    assert_int_equal(open_ledger(&t, &first), 0);
    assert_int_equal(open_ledger(&t, &second), VP_EREFUSED);
    ledger_close(&first);
    assert_int_equal(open_ledger(&t, &second), 0);
    ledger_close(&second);
    tree_remove(&t);
}

/* ---- Temporary trees ------------------------------------------------------------------------- */

static void test_trees_go_and_left_ones_too(void **state)
{
    (void)state;
    tree t;
    vp_temp_tree a = VP_TEMP_TREE_NONE, b = VP_TEMP_TREE_NONE;
    char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    tree_make(&t);
    setenv("TMPDIR", t.root, 1);
    tree_text(&t, "name_abcdef/.lock", "", 1); /* left behind */
    tree_text(&t, "name_abcdef/deep/file", "x", 1);
    tree_text(&t, "name_nolock/file", "x", 1);
    tree_text(&t, "name_longer_abcdef/.lock", "", 1); /* another name */
    tree_text(&t, "precious/file", "x", 1);
    assert_int_equal(symlink("precious", tree_at(&t, "name_linked")), 0);
    assert_int_equal(vp_temp_tree_make(&a, "name"), 0);
    assert_int_equal(vp_temp_tree_make(&b, "name"), 0); /* a lives */
    assert_int_equal(access(a.path, F_OK), 0);
    assert_int_equal(access(tree_at(&t, "name_abcdef"), F_OK), -1);
    assert_int_equal(access(tree_at(&t, "name_nolock/file"), F_OK), 0);
    assert_int_equal(access(tree_at(&t, "name_longer_abcdef/.lock"), F_OK), 0);
    assert_int_equal(access(tree_at(&t, "precious/file"), F_OK), 0);
    /* A link in a tree goes, not what it leads to. */
    char link[VP_PATH_MAX + 8];
    snprintf(link, sizeof link, "%s/link", a.path);
    assert_int_equal(symlink(tree_at(&t, "precious"), link), 0);
    char path[VP_PATH_MAX];
    snprintf(path, sizeof path, "%s", a.path);
    vp_temp_tree_free(&a);
    vp_temp_tree_free(&a); /* nothing is left to do */
    vp_temp_tree_free(&b);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(tree_at(&t, "precious/file"), F_OK), 0);
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
    tree_remove(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_fails_once),
        cmocka_unit_test(test_every_read_and_write_fails_once),
        cmocka_unit_test(test_ledger_keeps_any_name),
        cmocka_unit_test(test_ledgers_that_are_none),
        cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_trees_go_and_left_ones_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
