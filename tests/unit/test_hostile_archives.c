/* The crafted archives of docs/reference/formats.md#hostile-archives: what is listed, what is
 * refused and why, that nothing appears on disk and no program is started. Sizes:
 * test_archive_limits.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <sys/stat.h>

#include "archive_check.h"

/* Names that lead elsewhere. */
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

/* What is not a file. A file "through" a link is just a name to us. */
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

static void encrypted_members_are_refused(void **state)
{
    (void)state;
    check_and_free(
        zip_named("secret.json", 1),
        (expect){.members = 1, .refusals = 1, .why = "encrypted", .member = "good.json"});
}

/* The last of equal names wins, whatever way they are spelled. */
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

/* Kept as they are in members (whoever prints escapes), escaped in refusals. */
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

/* UTF-8 and Latin-1 names in the C locale, in which libarchive gives NULL for the former. */
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

/* One level only: an archive in an archive is a member like any other. */
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

/* Names that are none. */
static void empty_names_are_refused(void **state)
{
    (void)state;
    check_and_free(
        tar_of((tar_entry){.name = ".", .data = TRACE}),
        (expect){.members = 1, .refusals = 1, .why = "name is empty", .member = "good.json"});
    check_and_free(tar_of((tar_entry){.name = "./", .type = '5'}),
                   (expect){.members = 1, .member = "good.json"}); /* a directory: nothing */
}

/* Sizes written behind the data, as streaming zippers do. */
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

/* Nothing in it, or nothing at all. */
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

/* Formats and filters that are switched off, one of which would start a program from PATH. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escaping_names_are_refused),
        cmocka_unit_test(links_and_devices_are_refused),
        cmocka_unit_test(encrypted_members_are_refused),
        cmocka_unit_test(duplicates_keep_the_last),
        cmocka_unit_test(control_characters_in_names_survive_unprinted),
        cmocka_unit_test(names_do_not_depend_on_the_locale),
        cmocka_unit_test(nested_archives_are_not_opened),
        cmocka_unit_test(empty_names_are_refused),
        cmocka_unit_test(zip_with_sizes_behind_the_data),
        cmocka_unit_test(archives_without_entries),
        cmocka_unit_test(no_other_format_and_no_program),
    };
    return cmocka_run_group_tests_name("hostile_archives", tests, enter_sandbox, leave_sandbox);
}
