/* Records of a spool come back as they were put, in any order, from memory and from a file, of any
 * length and wherever they lie; where none can begin, that is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/pftrace/pft_spool.h"

enum { RECORDS = 6000 };

typedef struct made {
    rd_stream s; /* first member */
    vp_buf bytes;
    bool given;
    int64_t at[RECORDS];
    size_t length[RECORDS];
} made;

static int all_at_once(rd_stream *s, char **p, size_t *n)
{
    made *m = (made *)(void *)s;
    bool more = !m->given;
    m->given = true;
    *p = m->bytes.p;
    *n = m->bytes.n;
    return more;
}

/* What a record is made of is told by its number. */
static void fill(char *p, size_t n, int number)
{
    memset(p, number * 7 + 1, n);
    for (size_t i = 0; i + sizeof number <= n; i += 4096)
        memcpy(p + i, &number, sizeof number);
}

/* Records of `typical` bytes or fewer, some of none, some of a few blocks. */
static void make(made *m, pft_spool *spool, size_t typical)
{
    char *text = malloc(64 * typical);
    *m = (made){.s = {.next = all_at_once, .total = -1}};
    vp_buf_init(&m->bytes, 4 * VP_SPOOL_MEMORY_MAX);
    srand(11);
    for (int i = 0; i < RECORDS; i++) {
        size_t n = i % 100 == 50 ? 64 * typical : i % 9 ? (size_t)rand() % typical : 0;
        fill(text, n, i);
        m->at[i] = (int64_t)m->bytes.n;
        m->length[i] = n;
        assert_int_equal(pft_spool_put(&m->bytes, (vp_str){text, n}), 0);
    }
    free(text);
    assert_int_equal(rd_source_spool(&spool->source, &m->s, NULL), 0);
}

static void check(const made *m, pft_spool *spool, int number)
{
    char *expected = malloc(m->length[number] + 1);
    vp_str got;
    assert_int_equal(pft_spool_get(spool, m->at[number], &got), 0);
    assert_int_equal(got.n, m->length[number]);
    fill(expected, got.n, number);
    assert_memory_equal(got.p, expected, got.n);
    free(expected);
}

static void check_all(const made *m, pft_spool *spool)
{
    for (int i = 0; i < RECORDS; i++)
        check(m, spool, i);
    for (int i = RECORDS; i--;)
        check(m, spool, i);
    for (int i = 0; i < RECORDS; i++)
        check(m, spool, rand() % RECORDS);
}

static void check_ends(pft_spool *spool)
{
    int64_t size = rd_source_size(spool->source);
    vp_str got;
    assert_int_equal(pft_spool_get(spool, size, &got), VP_ECORRUPT);
    assert_int_equal(pft_spool_get(spool, size + 1000000, &got), VP_ECORRUPT);
    assert_int_equal(pft_spool_get(spool, -1, &got), VP_ECORRUPT);
}

static void run(size_t typical, bool in_memory)
{
    static made m;
    pft_spool spool = {0};
    vp_str all;
    make(&m, &spool, typical);
    assert_int_equal(rd_source_in_memory(spool.source, &all), in_memory);
    check_all(&m, &spool);
    check_ends(&spool);
    pft_spool_free(&spool);
    vp_buf_free(&m.bytes);
}

static void records_lie_in_memory(void **state)
{
    (void)state;
    run(300, true);
}

static void records_lie_in_a_file(void **state)
{
    (void)state;
    run(20000, false);
}

static void a_length_beyond_the_end_is_none(void **state)
{
    static const char cut[] = "\x05"
                              "ab";
    pft_spool spool = {0};
    vp_str got;
    (void)state;
    assert_int_equal(rd_source_memory(&spool.source, cut, 3), 0);
    assert_int_equal(pft_spool_get(&spool, 0, &got), VP_ECORRUPT);
    pft_spool_free(&spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_lie_in_memory),
        cmocka_unit_test(records_lie_in_a_file),
        cmocka_unit_test(a_length_beyond_the_end_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
