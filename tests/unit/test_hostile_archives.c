/* The crafted archives of quality.md 2.6 and 3.3 item 8: what is listed, what is refused and why,
 * that nothing appears on disk, no program is started and memory stays flat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <locale.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive_maker.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/archive.h"

#define TRACE "{\"traceEvents\":[]}"
#define BOMB (100u << 20)

static char sandbox[VP_PATH_MAX];

typedef struct expect {
    int rc;
    size_t members, refusals;
    const char *why;    /* in every refusal's reason */
    const char *member; /* the name of the only or last member */
    int damage;
} expect;

static ar_index *check(bytes archive, expect x)
{
    ar_index *ix = NULL;
    int fd = file_with(archive);
    assert_int_equal(ar_index_make(&ix, fd, NULL, NULL), x.rc);
    close(fd);
    if (x.rc < 0) {
        assert_null(ix);
        assert_true(strlen(vp_error_last()->message) > 0);
        return NULL;
    }
    assert_int_equal(ix->damage.code, x.damage);
    assert_int_equal(ix->member_count, x.members);
    assert_int_equal(ix->refusal_count, x.refusals);
    for (size_t i = 0; i < ix->refusal_count; i++)
        if (!strstr(ix->refusals[i].why, x.why))
            fail_msg("%s: %s", ix->refusals[i].name, ix->refusals[i].why);
    if (x.member)
        assert_string_equal(ix->members[ix->member_count - 1].name, x.member);
    return ix;
}

static void check_and_free(bytes archive, expect x)
{
    ar_index_free(check(archive, x));
    free(archive.p);
}

static bytes tar_of(tar_entry e)
{
    bytes b = {0};
    tar_add(&b, e);
    tar_add(&b, (tar_entry){.name = "good.json", .data = TRACE});
    tar_end(&b);
    return b;
}

static bytes zip_named(const char *name, unsigned flags)
{
    zip_maker z = {0};
    zip_add(&z, (zip_entry){.name = name, .data = TRACE, .n = strlen(TRACE), .flags = flags});
    zip_add(&z, (zip_entry){.name = "good.json", .data = TRACE, .n = strlen(TRACE)});
    return zip_end(&z);
}

/* Reads a member to its end. */
static rd_stream *open_member(bytes archive, uint32_t index)
{
    rd_stream *s = NULL;
    int fd = file_with(archive);
    assert_int_equal(ar_member_open(&s, fd, index), 0);
    close(fd);
    return s;
}

static int64_t drain(rd_stream *s)
{
    char *p;
    size_t n;
    int64_t all = 0;
    int rc;
    while ((rc = s->next(s, &p, &n)) > 0) {
        memset(p - RD_HEADROOM, 1, RD_HEADROOM + n);
        all += (int64_t)n;
    }
    assert_int_equal(rc, 0);
    return all;
}

/* 1–6: names that lead elsewhere. */
static void escaping_names_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *why;
    } bad[] = {
        {"../evil.json", "\"..\""},
        {"a/../../evil.json", "\"..\""},
        {"a/..", "\"..\""},
        {"/etc/cron.d/evil", "absolute"},
        {"//server/share", "absolute"},
        {"a\\..\\..\\evil.json", "backslash"},
        {"C:/evil.json", "drive"},
        {"c:evil.json", "drive"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_and_free(
            tar_of((tar_entry){.name = bad[i].name, .data = TRACE}),
            (expect){.members = 1, .refusals = 1, .why = bad[i].why, .member = "good.json"});
    check_and_free(zip_named("../../evil.json", 0),
                   (expect){.members = 1, .refusals = 1, .why = "\"..\"", .member = "good.json"});
    /* libarchive turns a zip's backslashes into slashes (measured) */
    check_and_free(zip_named("a\\..\\..\\evil.json", 0),
                   (expect){.members = 1, .refusals = 1, .why = "\"..\"", .member = "good.json"});
    check_and_free(zip_named("C:/evil.json", 0),
                   (expect){.members = 1, .refusals = 1, .why = "drive", .member = "good.json"});
}

/* 7–11: what is not a file. A file "through" a link is just a name to us. */
static void links_and_devices_are_refused(void **state)
{
    (void)state;
    static const struct {
        char type;
        const char *link, *why;
    } bad[] = {{'2', "../../outside", "symbolic"},
               {'1', "/etc/hostname", "hard link"},
               {'6', NULL, "FIFO"},
               {'3', NULL, "device"},
               {'4', NULL, "device"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_and_free(
            tar_of((tar_entry){.name = "x", .type = bad[i].type, .link = bad[i].link}),
            (expect){.members = 1, .refusals = 1, .why = bad[i].why, .member = "good.json"});
    bytes b = {0};
    tar_add(&b, (tar_entry){.name = "x", .type = '2', .link = "/tmp"});
    tar_add(&b, (tar_entry){.name = "x/evil.json", .data = TRACE});
    tar_end(&b);
    check_and_free(
        b, (expect){.members = 1, .refusals = 1, .why = "symbolic", .member = "x/evil.json"});
    bytes refused = tar_of((tar_entry){.name = "x", .type = '2', .link = "/etc/passwd"});
    rd_stream *s = NULL;
    int fd = file_with(refused);
    assert_int_equal(ar_member_open(&s, fd, 0), VP_EREFUSED); /* nor by its index */
    close(fd);
    free(refused.p);
}

/* 12: */
static void encrypted_members_are_refused(void **state)
{
    (void)state;
    check_and_free(
        zip_named("secret.json", 1),
        (expect){.members = 1, .refusals = 1, .why = "encrypted", .member = "good.json"});
}

/* 13: the last of equal names wins, whatever way they are spelled. */
static void duplicates_keep_the_last(void **state)
{
    (void)state;
    bytes b = {0};
    tar_add(&b, (tar_entry){.name = "a/x.json", .data = "first"});
    tar_add(&b, (tar_entry){.name = "b.json", .data = TRACE});
    tar_add(&b, (tar_entry){.name = "./a//x.json", .data = "second"});
    tar_add(&b, (tar_entry){.name = "a/./x.json", .data = "third!"});
    tar_end(&b);
    ar_index *ix = check(
        b, (expect){.members = 2, .refusals = 2, .why = "duplicate name", .member = "a/x.json"});
    assert_int_equal(ix->members[1].index, 3);
    assert_int_equal(ix->members[1].head_n, 6);
    assert_memory_equal(ix->members[1].head, "third!", 6);
    ar_index_free(ix);
    free(b.p);
}

/* 14: kept as they are in members (whoever prints escapes), escaped in refusals. */
static void control_characters_in_names_survive_unprinted(void **state)
{
    (void)state;
    const char *name = "a\nb\x1b[31m\xff.json"; /* not UTF-8 either */
    check_and_free(tar_of((tar_entry){.name = name, .data = TRACE}),
                   (expect){.members = 2, .member = "good.json"});
    bytes b = tar_of((tar_entry){.name = name, .data = TRACE});
    ar_index *ix = check(b, (expect){.members = 2});
    assert_string_equal(ix->members[0].name, name);
    ar_index_free(ix);
    free(b.p);
    b = tar_of((tar_entry){.name = name, .type = '6'});
    ix = check(b, (expect){.members = 1, .refusals = 1, .why = "FIFO"});
    for (const char *c = ix->refusals[0].name; *c; c++)
        assert_true((unsigned char)*c >= 0x20);
    ar_index_free(ix);
    free(b.p);
}

/* 15: UTF-8 and Latin-1 names in the C locale, in which libarchive gives NULL for the former. */
static void names_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    setlocale(LC_ALL, "C");
    check_and_free(zip_named("r\xc3\xa9sum\xc3\xa9.json", 0x800), (expect){.members = 2});
    bytes b = zip_named("r\xc3\xa9sum\xc3\xa9.json", 0x800);
    ar_index *ix = check(b, (expect){.members = 2});
    assert_string_equal(ix->members[0].name, "r\xc3\xa9sum\xc3\xa9.json");
    ar_index_free(ix);
    free(b.p);
    check_and_free(zip_named("r\xe9sum\xe9.json", 0), (expect){.members = 2});
    check_and_free(tar_of((tar_entry){.name = "r\xe9sum\xe9.json", .data = TRACE}),
                   (expect){.members = 2});
}

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

/* 16–19: the bombs are made first, in other memory than what is measured: the peak so far is
 * reached again only if listing or reading takes as much. */
static void bombs_are_stopped_with_flat_memory(void **state)
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

/* The same in a child that has nothing else in memory. */
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

/* 20: one level only: an archive in an archive is a member like any other. */
static void nested_archives_are_not_opened(void **state)
{
    (void)state;
    bytes inner = zip_named("../evil.json", 0), b = {0};
    tar_entry e = {.name = "inner.zip", .type = '0'};
    tar_add_bytes(&b, &e, inner.p, inner.n);
    tar_end(&b);
    ar_index *ix = check(b, (expect){.members = 1, .member = "inner.zip"});
    assert_memory_equal(ix->members[0].head, "PK\3\4", 4);
    ar_index_free(ix);
    free(inner.p);
    free(b.p);
}

/* 21: */
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

/* 22: names that are none. */
static void empty_names_are_refused(void **state)
{
    (void)state;
    check_and_free(tar_of((tar_entry){.name = ".", .data = TRACE}),
                   (expect){.members = 1, .refusals = 1, .why = "no name", .member = "good.json"});
    check_and_free(tar_of((tar_entry){.name = "./", .type = '5'}),
                   (expect){.members = 1, .member = "good.json"}); /* a directory: nothing */
}

/* 23: sizes written behind the data, as streaming zippers do. */
static void zip_with_sizes_behind_the_data(void **state)
{
    (void)state;
    zip_maker z = {0};
    zip_add(&z, (zip_entry){
                    .name = "s.json", .data = TRACE, .n = strlen(TRACE), .method = 8, .flags = 8});
    bytes b = zip_end(&z);
    ar_index_free(check(b, (expect){.members = 1, .member = "s.json"}));
    rd_stream *s = open_member(b, 0);
    assert_int_equal(drain(s), strlen(TRACE));
    assert_int_equal(s->damage.code, 0);
    s->close(s);
    free(b.p);
}

/* 24: nothing in it, or nothing at all. */
static void archives_without_entries(void **state)
{
    (void)state;
    zip_maker z = {0};
    check_and_free(zip_end(&z), (expect){0});
    bytes b = {0};
    tar_end(&b);
    check_and_free(b, (expect){0});
    b = (bytes){0};
    tar_end(&b);
    bytes empty = {0}, text = {0};
    check_and_free(empty, (expect){.rc = VP_ECORRUPT});
    put(&text, "just some text, no archive", 26);
    check_and_free(text, (expect){.rc = VP_ECORRUPT});
    free(b.p);
}

/* 25: sizes that cannot be. */
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

/* 26: a sparse file of 4 GiB of nothing in one block (GNU's old sparse header). */
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

/* 27: more entries than anybody has. */
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

/* 28: formats and filters that are switched off, one of which would start a program from PATH. */
static void no_other_format_and_no_program(void **state)
{
    (void)state;
    static const struct {
        const char *p;
        size_t n;
    } heads[] = {{"LRZI\0\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 25},
                 {"\x89LZO\0\r\n\x1a\n\x10\x30", 11},
                 {"GRZipII\0\2\4:)", 12},
                 {"Rar!\x1a\7\1\0", 8},
                 {"7z\xbc\xaf\x27\x1c\0\4", 8},
                 {"MSCF\0\0\0\0", 8},
                 {"\xfd"
                  "7zXZ\0",
                  6},
                 {"BZh91AY&SY", 10},
                 {"#mtree\n", 7},
                 {"!<arch>\n", 8}};
    char path[VP_PATH_MAX + 32], old[8192], with[sizeof path + sizeof old];
    snprintf(old, sizeof old, "%s", getenv("PATH"));
    snprintf(with, sizeof with, "%s:%s", sandbox, old);
    setenv("PATH", with, 1);
    static const char *const programs[] = {"lrzip", "lzop", "grzip"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", sandbox, programs[i]);
        FILE *f = fopen(path, "w");
        fprintf(f, "#!/bin/sh\ntouch %s/started\n", sandbox);
        fclose(f);
        chmod(path, 0700);
    }
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        bytes b = {0};
        put(&b, heads[i].p, heads[i].n);
        put_zeros(&b, 2048);
        int fd = file_with(b);
        assert_false(ar_is_archive(fd, VP_STR("x.tar")));
        close(fd);
        check_and_free(b, (expect){.rc = VP_ECORRUPT});
    }
    setenv("PATH", old, 1);
    snprintf(path, sizeof path, "%s/started", sandbox);
    assert_int_equal(access(path, F_OK), -1);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", sandbox, programs[i]);
        unlink(path);
    }
}

static int enter_sandbox(void **state)
{
    (void)state;
    return vp_fs_temp_dir("hostile", sandbox) < 0 || chdir(sandbox) < 0;
}

/* Whatever the tests above opened, the working directory is as empty as it was. */
static int leave_sandbox(void **state)
{
    (void)state;
    DIR *d = opendir(".");
    struct dirent *e;
    int found = 0;
    while ((e = readdir(d)))
        if (e->d_name[0] != '.') {
            print_error("created on disk: %s\n", e->d_name);
            found++;
        }
    closedir(d);
    return chdir("/") < 0 || rmdir(sandbox) < 0 || found;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escaping_names_are_refused),
        cmocka_unit_test(links_and_devices_are_refused),
        cmocka_unit_test(encrypted_members_are_refused),
        cmocka_unit_test(duplicates_keep_the_last),
        cmocka_unit_test(control_characters_in_names_survive_unprinted),
        cmocka_unit_test(names_do_not_depend_on_the_locale),
        cmocka_unit_test(bombs_are_stopped_with_flat_memory),
        cmocka_unit_test(a_bomb_takes_less_than_64_mib),
        cmocka_unit_test(nested_archives_are_not_opened),
        cmocka_unit_test(long_names_end_at_the_limit),
        cmocka_unit_test(empty_names_are_refused),
        cmocka_unit_test(zip_with_sizes_behind_the_data),
        cmocka_unit_test(archives_without_entries),
        cmocka_unit_test(impossible_sizes),
        cmocka_unit_test(sparse_files_do_not_grow),
        cmocka_unit_test(too_many_entries_end_the_list),
        cmocka_unit_test(a_huge_zip_directory_is_refused),
        cmocka_unit_test(no_other_format_and_no_program),
    };
    return cmocka_run_group_tests_name("hostile_archives", tests, enter_sandbox, leave_sandbox);
}
