/* Archives that are too much: bombs, sizes, counts and names beyond limits.h, stopped with flat
 * memory (docs/reference/formats.md#archive-limits). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/resource.h>

#include "archive_check.h"

#define BOMB (100u << 20)

static long peak_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static bytes tar_bomb(void)
{
    bytes b = {0};
    char h[512];
    tar_entry e = {.name = "zeros.json", .type = '0'};
    tar_add(&b, (tar_entry){.name = "good.json", .data = TRACE});
    tar_header(h, &e, BOMB);
    put(&b, h, sizeof h);
    put_zeros(&b, BOMB);
    tar_end(&b);
    return b;
}

static bytes zip_bomb(uint32_t claim)
{
    zip_maker z = {0};
    void *zeros = calloc(1, BOMB);
    zip_add(&z,
            (zip_entry){
                .name = "zeros.json", .data = zeros, .n = BOMB, .method = 8, .claim_size = claim});
    zip_add(&z, (zip_entry){.name = "good.json", .data = TRACE, .n = strlen(TRACE)});
    free(zeros);
    return zip_end(&z);
}

/* Each format by its own limit; what stands before or beside the bomb is still there. */
static void bombs_are_stopped(void **state)
{
    (void)state;
    bytes tar = tar_bomb(), gz = gzip_of(tar), zst = zstd_of(tar);
    bytes zip = zip_bomb(0), liar = zip_bomb(10);
    assert_true(gz.n < BOMB / 200 && zst.n < BOMB / 200 && zip.n < BOMB / 200);
    free(tar.p);
    /* the tars: the bomb says its size, and what stands behind it is not looked for */
    expect bomb = {.members = 1,
                   .refusals = 1,
                   .why = "200 times",
                   .damage = VP_ELIMIT,
                   .member = "good.json"};
    ar_index_free(check(gz, bomb));
    ar_index_free(check(zst, bomb));
    bytes *all[] = {&gz, &zst};
    for (size_t i = 0; i < 2; i++) {
        rd_stream *s = open_member(*all[i], 1);
        assert_true(drain(s) < (int64_t)VP_ARCHIVE_RATIO_FREE + (4 << 20));
        assert_int_equal(s->damage.code, VP_ELIMIT);
        s->close(s);
    }
    /* the zip says its size, or lies about it */
    ar_index_free(check(
        zip, (expect){.members = 1, .refusals = 1, .why = "200 times", .member = "good.json"}));
    ar_index_free(check(liar, (expect){.members = 2, .member = "good.json"}));
    rd_stream *s = open_member(liar, 0);
    assert_true(drain(s) <= 10);
    assert_int_equal(s->damage.code, VP_ECORRUPT);
    s->close(s);
    s = open_member(liar, 1);
    assert_int_equal(drain(s), strlen(TRACE));
    assert_int_equal(s->damage.code, 0);
    s->close(s);
    free(gz.p), free(zst.p), free(zip.p), free(liar.p);
}

/* In a child that has nothing else in memory. */
static void a_bomb_takes_less_than_64_mib(void **state)
{
    (void)state;
    bytes tar = tar_bomb(), gz = gzip_of(tar);
    free(tar.p);
    int fd = file_with(gz), ends[2];
    free(gz.p);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        FILE *self = fopen("/proc/self/clear_refs", "w"); /* the peak starts anew */
        if (self) {
            fputs("5", self);
            fclose(self);
        }
        long before = peak_kib(), after;
        ar_index *ix = NULL;
        int rc = ar_index_make(&ix, fd, NULL, NULL);
        after = peak_kib() - before;
        ar_index_free(ix);
        after = rc == 0 ? after : -1;
        _exit(write(ends[1], &after, sizeof after) != sizeof after);
    }
    long grown = -1;
    assert_int_equal(read(ends[0], &grown, sizeof grown), sizeof grown);
    close(fd), close(ends[0]), close(ends[1]);
    assert_true(grown >= 0);
    assert_true(grown < 64 << 10);
}

static void long_names_end_at_the_limit(void **state)
{
    (void)state;
    char name[VP_MEMBER_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    for (size_t n = VP_MEMBER_NAME_MAX; n <= VP_MEMBER_NAME_MAX + 1; n++) {
        bytes b = {0};
        bool fits = n <= VP_MEMBER_NAME_MAX;
        name[n] = 0;
        tar_add_long(&b, name, TRACE);
        tar_end(&b);
        check_and_free(b, (expect){.members = fits,
                                   .refusals = !fits,
                                   .why = "longer",
                                   .member = fits ? name : NULL});
        name[n] = 'n';
    }
}

/* Sizes that cannot be. */
static void impossible_sizes(void **state)
{
    (void)state;
    bytes b = {0};
    tar_add(&b, (tar_entry){.name = "good.json", .data = TRACE});
    tar_add(&b, (tar_entry){.name = "huge.json", .size = INT64_C(9) << 30});
    tar_end(&b);
    check_and_free(b, (expect){.members = 1,
                               .refusals = 1,
                               .why = "8 GiB",
                               .damage = VP_ECORRUPT,
                               .member = "good.json"});
    b = (bytes){0};
    tar_add(&b, (tar_entry){.name = "good.json", .data = TRACE});
    tar_add(&b, (tar_entry){.name = "negative.json", .size = -5});
    tar_end(&b);
    check_and_free(b, (expect){.members = 1, .damage = VP_ECORRUPT, .member = "good.json"});
}

/* A sparse file of 4 GiB of nothing in one block (GNU's old sparse header). */
static void sparse_files_do_not_grow(void **state)
{
    (void)state;
    bytes b = {0};
    char h[512];
    tar_entry e = {.name = "sparse.json", .type = 'S'};
    tar_add(&b, (tar_entry){.name = "good.json", .data = TRACE});
    tar_header(h, &e, 0);
    memcpy(h + 257, "ustar  ", 8);
    snprintf(h + 386, 12, "%011llo", 4ull << 30);
    snprintf(h + 398, 12, "%011o", 0u);
    snprintf(h + 483, 12, "%011llo", 4ull << 30);
    tar_checksum(h);
    put(&b, h, sizeof h);
    tar_end(&b);
    check_and_free(
        b, (expect){.members = 1, .refusals = 1, .why = "200 times", .member = "good.json"});
}

/* More entries than anybody has. */
static void too_many_entries_end_the_list(void **state)
{
    (void)state;
    bytes b = {0};
    char h[512], name[16];
    b.p = malloc((VP_ARCHIVE_ENTRIES_MAX + 10) * 512);
    for (unsigned i = 0; i <= VP_ARCHIVE_ENTRIES_MAX; i++) {
        tar_entry e = {.name = name, .type = '0'};
        snprintf(name, sizeof name, "%u", i);
        tar_header(h, &e, 0);
        memcpy(b.p + b.n, h, sizeof h);
        b.n += sizeof h;
    }
    tar_end(&b);
    check_and_free(b, (expect){.members = VP_ARCHIVE_ENTRIES_MAX, .damage = VP_ELIMIT});
}

/* A directory of a million entries for one file: 47 MB that libarchive would hold four times. */
static void a_huge_zip_directory_is_refused(void **state)
{
    (void)state;
    zip_maker z = {0};
    zip_add(&z, (zip_entry){.name = "a", .data = TRACE, .n = strlen(TRACE)});
    size_t one = z.directory.n;
    unsigned char *entry = malloc(one);
    memcpy(entry, z.directory.p, one);
    z.directory.p = realloc(z.directory.p, one * 1000000);
    for (z.directory.n = 0; z.directory.n < one * 1000000; z.directory.n += one)
        memcpy(z.directory.p + z.directory.n, entry, one);
    free(entry);
    check_and_free(zip_end(&z), (expect){.rc = VP_ELIMIT});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bombs_are_stopped),
        cmocka_unit_test(a_bomb_takes_less_than_64_mib),
        cmocka_unit_test(long_names_end_at_the_limit),
        cmocka_unit_test(impossible_sizes),
        cmocka_unit_test(sparse_files_do_not_grow),
        cmocka_unit_test(too_many_entries_end_the_list),
        cmocka_unit_test(a_huge_zip_directory_is_refused),
    };
    return cmocka_run_group_tests_name("archive_limits", tests, enter_sandbox, leave_sandbox);
}
