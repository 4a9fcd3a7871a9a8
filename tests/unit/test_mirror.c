/* A mirror has the tree of what lies elsewhere, and nothing that a name could do harm with; what is
 * removed or changes there is removed or changes here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tests/unit/source_stub.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog.h"

#define URL "s3://bucket/logs/plugins/profile"

static char cache[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(cache, sizeof cache, "/tmp/vp_mirror_XXXXXX");
    return mkdtemp(cache) && setenv("XDG_CACHE_HOME", cache, 1) == 0 ? 0 : -1;
}

static int drop_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int tear_down(void **state)
{
    (void)state;
    return nftw(cache, drop_one, 20, FTW_DEPTH | FTW_PHYS);
}

static mirror *open_it(stub *s)
{
    mirror *m;
    assert_int_equal(mirror_open(&m, URL, &(source_ask){.ask = stub_ask, .ctx = s}, NULL), 0);
    return m;
}

/* The same, listed; the caller frees it. */
static mirror *listed(stub *s)
{
    const mirror_renewal how = {0};
    const char *root;
    mirror *m = open_it(s);
    assert_int_equal(mirror_renew(m, &how, &root), 0);
    assert_string_equal(root, "/bucket/logs/plugins/profile");
    stub_end(s);
    return m;
}

static void again(mirror *m, stub *s)
{
    const mirror_renewal how = {0};
    const char *root;
    mirror_spoil(m);
    assert_int_equal(mirror_renew(m, &how, &root), 0);
    stub_end(s);
}

static bool has(const mirror *m, const char *name, int64_t bytes)
{
    vp_file_id id;
    return mirror_find(m, name, &id) && id.size == bytes;
}

typedef struct looking {
    const mirror *m;
    char dirs[64][1100];
    size_t dir_n, files;
    const char *at;
} looking;

static int tell(void *ctx, vp_str name, bool is_dir)
{
    looking *l = ctx;
    char path[1100];
    snprintf(path, sizeof path, "%s%s%.*s", l->at, *l->at ? "/" : "", VP_STR_ARG(name));
    vp_file_id id;
    assert_true(is_dir || mirror_find(l->m, path, &id));
    l->files += !is_dir;
    if (is_dir && l->dir_n < 64)
        memcpy(l->dirs[l->dir_n++], path, sizeof path);
    return 0;
}

/* How many files a walk from the root meets. */
static size_t files(const mirror *m)
{
    static looking l;
    l = (looking){.m = m, .dir_n = 1};
    for (size_t i = 0; i < l.dir_n; i++) {
        l.at = l.dirs[i];
        assert_int_equal(mirror_each(m, l.at, tell, &l), 0);
    }
    return l.files;
}

static size_t found;

static int count_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)path;
    (void)st;
    (void)at;
    found += kind == FTW_F || kind == FTW_SL;
    return 0;
}

static size_t files_on_disk(void)
{
    found = 0;
    assert_int_equal(nftw(cache, count_one, 20, FTW_PHYS), 0);
    return found;
}

#define S(n) INT64_C(n) * 1000000000

static void it_has_the_tree_and_no_content(void **state)
{
    (void)state;
    const stub_object objects[] = {
        {.name = "a/h.xplane.pb", .bytes = INT64_C(5) << 30, .mtime_ns = S(1700000000)},
        {.name = "b/c d\n\xff.trace.json.gz", .bytes = 7, .mtime_ns = S(1)},
        {.name = "b/weights.bin", .bytes = 7},
        {.name = "top.json", .bytes = 0},
    };
    stub s = {.objects = objects, .n = 4};
    const char *why;
    mirror *m = listed(&s);
    assert_int_equal(atomic_load(&s.lists), 1);
    assert_true(has(m, objects[0].name, objects[0].bytes));
    assert_true(has(m, objects[1].name, 7));
    assert_true(has(m, "top.json", 0));
    assert_int_equal(files(m), 3);
    assert_int_equal(files_on_disk(), 0);
    assert_int_equal(mirror_left_out(m, &why), 0);
    mirror_free(m);
}

/* '/' comes before what else a name may go on with. */
static void what_lies_beneath_a_directory_is_told_once_and_in_order(void **state)
{
    (void)state;
    const stub_object objects[] = {
        {.name = "a-b/x.json"},        {.name = "a/y.json"},          {.name = "a.json"},
        {.name = "a/x.json"},          {.name = "a!/x.json"},         {.name = "a/b/c/x.json"},
        {.name = "a", .is_dir = true}, {.name = "e", .is_dir = true}, {.name = "a/x.json"},
    };
    stub s = {.objects = objects, .n = sizeof objects / sizeof *objects};
    mirror *m = listed(&s);
    static looking l;
    l = (looking){.m = m, .at = ""};
    assert_int_equal(mirror_each(m, "", tell, &l), 0);
    const char *const wanted[] = {"a", "a!", "a-b", "e"};
    assert_int_equal(l.dir_n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(l.dirs[i], wanted[i]);
    assert_int_equal(l.files, 1);
    assert_int_equal(files(m), 6);
    mirror_free(m);
}

static void names_that_lead_elsewhere_are_left_out(void **state)
{
    (void)state;
    static char deep[2 * 40 + 10], longest[300], far[1100];
    memset(longest, 'x', 290);
    memcpy(longest + 280, ".json", 6);
    for (int i = 0; i < 40; i++)
        memcpy(deep + 2 * i, "d/", 2);
    memcpy(deep + 80, "x.json", 7);
    for (int i = 0; i < 1050; i++)
        far[i] = i % 100 ? 'y' : '/';
    far[0] = 'y';
    memcpy(far + 1050, ".json", 6);
    const stub_object objects[] = {
        {.name = "../up.json"},
        {.name = "a/../../up.json"},
        {.name = "/etc/up.json"},
        {.name = "a//up.json"},
        {.name = "a/./up.json"},
        {.name = ".."},
        {.name = "../dir", .is_dir = true},
        {.name = "a/"},
        {.name = "nul\0.json", .name_n = 9},
        {.name = ".hidden/up.json"},
        {.name = longest},
        {.name = deep},
        {.name = far},
        {.name = "x.json", .bytes = 1},
        {.name = "x.json/y.json", .bytes = 2},
        {.name = "fine/x.json", .bytes = 3},
    };
    stub s = {.objects = objects, .n = sizeof objects / sizeof *objects};
    const char *why;
    mirror *m = listed(&s);
    assert_true(has(m, "x.json", 1));
    assert_true(has(m, "fine/x.json", 3));
    assert_int_equal(files(m), 2);
    assert_int_equal(files_on_disk(), 0);
    assert_int_equal(mirror_left_out(m, &why), 12); /* hidden ones are nobody's */
    assert_string_equal(why, "a path segment is empty, . or ..");
    mirror_free(m);
}

static void what_changes_or_goes_does_so_here(void **state)
{
    (void)state;
    stub_object objects[] = {
        {.name = "a/h.xplane.pb", .bytes = 100, .mtime_ns = S(5)},
        {.name = "b/h.xplane.pb", .bytes = 200, .mtime_ns = S(6)},
        {.name = "c/deep/down/h.xplane.pb", .bytes = 300, .mtime_ns = S(7)},
    };
    stub s = {.objects = objects, .n = 3};
    mirror *m = listed(&s);
    vp_file_id before[2];
    assert_true(mirror_find(m, "a/h.xplane.pb", &before[0]));
    assert_true(mirror_find(m, "b/h.xplane.pb", &before[1]));
    objects[0].bytes = 101;
    s.n = 2;
    again(m, &s);
    assert_true(has(m, "a/h.xplane.pb", 101) && has(m, "b/h.xplane.pb", 200));
    assert_int_equal(files(m), 2);
    assert_int_equal(mirror_check(m, &before[0]), VP_EIO);
    assert_int_equal(mirror_check(m, &before[1]), 0);
    objects[1].name = "b.json"; /* was in a directory */
    again(m, &s);
    assert_true(has(m, "b.json", 200));
    assert_int_equal(mirror_check(m, &before[1]), VP_ENOTFOUND);
    mirror_free(m);
}

/* Of the same size and time, but not the same. */
static void another_version_is_another_file(void **state)
{
    (void)state;
    stub_object objects[] = {{.name = "a/h.xplane.pb", .bytes = 1, .mtime_ns = S(5), .etag = "1"}};
    stub s = {.objects = objects, .n = 1};
    mirror *m = listed(&s);
    vp_file_id before, after;
    assert_true(mirror_find(m, objects[0].name, &before));
    again(m, &s);
    assert_true(mirror_find(m, objects[0].name, &after) && after.mtime_ns == before.mtime_ns);
    objects[0].etag = "2";
    again(m, &s);
    assert_true(mirror_find(m, objects[0].name, &after) && after.mtime_ns != before.mtime_ns);
    mirror_free(m);
}

static void content_comes_from_there(void **state)
{
    (void)state;
    stub_object objects[] = {{.name = "a/h.xplane.pb", .bytes = 6 << 20, .etag = "1"}};
    stub s = {.objects = objects, .n = 1};
    const mirror_renewal how = {0};
    const char *root;
    rd_source *in;
    char p[100];
    size_t got;
    mirror *m = open_it(&s);
    assert_int_equal(mirror_renew(m, &how, &root), 0);
    vp_file_id id;
    assert_true(mirror_find(m, objects[0].name, &id));
    assert_int_equal(mirror_source(m, &id, &in), 0);
    assert_int_equal(rd_source_read(in, p, sizeof p, 5 << 20, &got), 0);
    assert_int_equal(got, sizeof p);
    for (size_t i = 0; i < got; i++)
        assert_int_equal((unsigned char)p[i], stub_byte((5 << 20) + (int64_t)i));
    rd_source_close(in);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(mirror_head(m, &id, p, sizeof p, &got), 0);
        assert_int_equal(got, sizeof p);
        assert_int_equal((unsigned char)p[99], stub_byte(99));
    }
    stub_end(&s);
    int before = atomic_load(&s.reads);
    assert_int_equal(mirror_head(m, &id, p, sizeof p, &got), 0);
    assert_int_equal(atomic_load(&s.reads), before); /* it was kept */
    id.size++;
    assert_int_equal(mirror_head(m, &id, p, sizeof p, &got), VP_EIO);
    mirror_free(m);
}

/* 10^5 of them, in one list. */
static void many_are_no_trouble(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    stub_object *objects = vp_calloc(MANY, sizeof *objects);
    char *names = vp_malloc((size_t)MANY * 32);
    for (int i = 0; i < MANY; i++) {
        snprintf(names + 32 * i, 32, "run_%05d/h%d.xplane.pb", i / 10, i % 10);
        objects[i] = (stub_object){.name = names + 32 * i, .bytes = 1000 + i, .mtime_ns = S(9)};
    }
    stub s = {.objects = objects, .n = MANY};
    mirror *m = listed(&s);
    assert_true(has(m, "run_09999/h9.xplane.pb", 1000 + MANY - 1));
    static looking l;
    l = (looking){.m = m, .at = "run_09999"};
    assert_int_equal(mirror_each(m, l.at, tell, &l), 0);
    assert_int_equal(l.files, 10);
    mirror_free(m);
    vp_free(names);
    vp_free(objects);
}

static void nothing_and_nonsense_are_told_apart(void **state)
{
    (void)state;
    stub s = {0};
    const mirror_renewal how = {0};
    const char *root;
    mirror *m = open_it(&s);
    assert_int_equal(mirror_renew(m, &how, &root), VP_ENOTFOUND);
    assert_string_equal(vp_error_last()->path, URL);
    mirror_free(m);
    stub_end(&s);
    const source_ask ask = {.ask = stub_ask, .ctx = &s};
    assert_int_equal(mirror_open(&m, "s3://", &ask, NULL), VP_EARG);
    assert_int_equal(mirror_open(&m, "http:///", &ask, NULL), VP_EARG);
    assert_true(mirror_is_url("S3://b") && mirror_is_url("abfss://x") && mirror_is_url("http://x"));
    assert_false(mirror_is_url("s3:/b") || mirror_is_url("/s3://b") || mirror_is_url("ftp://x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        CASE(it_has_the_tree_and_no_content),
        CASE(what_lies_beneath_a_directory_is_told_once_and_in_order),
        CASE(names_that_lead_elsewhere_are_left_out),
        CASE(what_changes_or_goes_does_so_here),
        CASE(another_version_is_another_file),
        CASE(content_comes_from_there),
        CASE(many_are_no_trouble),
        CASE(nothing_and_nonsense_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
