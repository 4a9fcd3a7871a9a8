/* Finished conversions: what was delivered to its end is kept, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "server/net/answer/cache.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"

typedef struct pieces {
    int left, result; /* pieces to come, and what follows them */
    bool lacking;     /* as of an http_source */
    int closed;
    char text[8];
} pieces;

static int next_piece(void *ctx, char **p, size_t *n)
{
    pieces *s = ctx;
    if (s->left == 0)
        return s->result;
    s->text[0] = (char)('a' + --s->left);
    *p = s->text;
    *n = 1;
    return 1;
}

static void close_pieces(void *ctx)
{
    ((pieces *)ctx)->closed++;
}

/* Delivers everything (at most `max` pieces) and closes; returns what next() returned last. */
static int drain(http_cache *c, pieces *s, const char *key, int max)
{
    http_source src;
    char *p;
    size_t n;
    int rc = 1;
    const http_source in = {
        .next = next_piece, .close = close_pieces, .ctx = s, .lacking = &s->lacking};
    assert_int_equal(http_cache_fill(&src, in, c, key), 0);
    while (max-- > 0 && (rc = src.next(src.ctx, &p, &n)) > 0)
        assert_int_equal(n, 1);
    src.close(src.ctx);
    assert_int_equal(s->closed, 1);
    return rc;
}

static void expect(http_cache *c, const char *key, const char *content)
{
    int fd = -1;
    char got[16] = "";
    assert_int_equal(http_cache_get(c, key, &fd), content != NULL);
    if (!content)
        return;
    assert_int_equal(pread(fd, got, sizeof got - 1, 0), strlen(content));
    assert_string_equal(got, content);
    close(fd);
}

static void test_kept_when_whole(void **state)
{
    http_cache *c;
    (void)state;
    assert_int_equal(http_cache_new(&c), 0);
    expect(c, "\"k\"", NULL);
    expect(c, "", NULL);
    assert_int_equal(drain(c, &(pieces){.left = 3}, "\"k\"", 99), 0);
    expect(c, "\"k\"", "cba");
    expect(c, "\"k\"", "cba"); /* again: the descriptors are copies */
    expect(c, "\"l\"", NULL);
    http_cache_free(c);
}

static void test_not_kept_when_not_whole(void **state)
{
    http_cache *c;
    (void)state;
    assert_int_equal(http_cache_new(&c), 0);
    assert_int_equal(drain(c, &(pieces){.left = 3, .result = VP_EIO}, "\"failed\"", 99), VP_EIO);
    assert_int_equal(drain(c, &(pieces){.left = 3}, "\"left\"", 2), 1);
    assert_int_equal(drain(c, &(pieces){.left = 3}, "\"not seen to its end\"", 3), 1);
    assert_int_equal(drain(c, &(pieces){.left = 3, .lacking = true}, "\"lacks\"", 99), 0);
    expect(c, "\"lacks\"", NULL);
    expect(c, "\"failed\"", NULL);
    expect(c, "\"left\"", NULL);
    expect(c, "\"not seen to its end\"", NULL);
    http_cache_free(c);
}

/* A full disk at the first or a later write: delivered all the same, and not kept. */
static void test_disk_full(void **state)
{
    http_cache *c;
    (void)state;
    assert_int_equal(http_cache_new(&c), 0);
    for (uint64_t k = 1; k <= 4; k++) { /* making the file, then each of three writes */
        pieces s = {.left = 3};
        vp_fs_fail_at(k, ENOSPC);
        assert_int_equal(drain(c, &s, "\"k\"", 99), 0);
        assert_int_equal(s.left, 0);
        vp_fs_fail_at(0, 0);
        expect(c, "\"k\"", k == 1 ? "cba" : NULL);
        if (k == 1) { /* O_TMPFILE failed: an ordinary file did; start over */
            http_cache_free(c);
            assert_int_equal(http_cache_new(&c), 0);
        }
    }
    assert_int_equal(drain(c, &(pieces){.left = 3}, "\"k\"", 99), 0);
    expect(c, "\"k\"", "cba");
    http_cache_free(c);
}

/* 16 entries: the one that was used longest ago gives way. */
static void test_least_recently_used_gives_way(void **state)
{
    http_cache *c;
    char key[8] = "\"a\"";
    (void)state;
    assert_int_equal(http_cache_new(&c), 0);
    for (int i = 0; i < 16; i++) {
        key[1] = (char)('a' + i);
        assert_int_equal(drain(c, &(pieces){.left = 1}, key, 99), 0);
    }
    expect(c, "\"a\"", "a"); /* used: now "b" is the oldest */
    assert_int_equal(drain(c, &(pieces){.left = 2}, "\"new\"", 99), 0);
    expect(c, "\"a\"", "a");
    expect(c, "\"b\"", NULL);
    expect(c, "\"c\"", "a");
    expect(c, "\"new\"", "ba");
    http_cache_free(c);
}

/* Two that were made at once under one key: the first stays. */
static void test_twice(void **state)
{
    http_cache *c;
    (void)state;
    assert_int_equal(http_cache_new(&c), 0);
    assert_int_equal(drain(c, &(pieces){.left = 3}, "\"k\"", 99), 0);
    assert_int_equal(drain(c, &(pieces){.left = 2}, "\"k\"", 99), 0);
    expect(c, "\"k\"", "cba");
    http_cache_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_when_whole),
        cmocka_unit_test(test_not_kept_when_not_whole),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_least_recently_used_gives_way),
        cmocka_unit_test(test_twice),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
