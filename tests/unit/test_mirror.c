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
#include "trace/model/catalog.h"

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

/* Lists even what was listed a moment ago. */
static const char *renew(stub *s)
{
    static char root[4096];
    const char *p;
    const mirror_renewal how = {0};
    mirror *m = open_it(s);
    assert_int_equal(mirror_renew(m, &how, &p), 0);
    snprintf(root, sizeof root, "%s", p);
    mirror_free(m);
    stub_end(s);
    return root;
}

static bool has(const char *root, const char *name, int64_t bytes)
{
    char path[8192];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", root, name);
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == bytes && !st.st_blocks;
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

static size_t files(const char *root)
{
    found = 0;
    assert_int_equal(nftw(root, count_one, 20, FTW_PHYS), 0);
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
    const char *root = renew(&s);
    assert_int_equal(atomic_load(&s.lists), 1);
    assert_true(strstr(root, "/logs/plugins/profile") != NULL);
    assert_true(has(root, objects[0].name, objects[0].bytes));
    assert_true(has(root, objects[1].name, 7));
    assert_true(has(root, "top.json", 0));
    assert_int_equal(files(root), 3);
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
    const char *root = renew(&s);
    assert_true(has(root, "x.json", 1));
    assert_true(has(root, "fine/x.json", 3));
    assert_int_equal(files(root), 2);
    assert_int_equal(files(cache), 3); /* and the lock */
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
    renew(&s);
    objects[0].bytes = 101;
    s.n = 2;
    const char *root = renew(&s);
    assert_true(has(root, "a/h.xplane.pb", 101) && has(root, "b/h.xplane.pb", 200));
    assert_int_equal(files(root), 2);
    char path[8192];
    snprintf(path, sizeof path, "%s/c", root);
    assert_int_equal(access(path, F_OK), -1);
    objects[1].name = "b"; /* was a directory */
    objects[1].bytes = 1;
    renew(&s);
    renew(&s);
}

static vp_file_id id_of(const char *root, const char *name)
{
    char path[8192];
    int fd;
    bool is_dir;
    vp_file_id id;
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(vp_fs_open_user(path, &fd, &is_dir, &id), 0);
    close(fd);
    return id;
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
    vp_file_id id = id_of(root, objects[0].name);
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
    const char *root = renew(&s);
    assert_true(has(root, "run_09999/h9.xplane.pb", 1000 + MANY - 1));
    assert_int_equal(files(root), MANY);
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
        CASE(names_that_lead_elsewhere_are_left_out),
        CASE(what_changes_or_goes_does_so_here),
        CASE(content_comes_from_there),
        CASE(many_are_no_trouble),
        CASE(nothing_and_nonsense_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
