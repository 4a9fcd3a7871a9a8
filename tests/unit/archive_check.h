/* Helpers for tests of crafted archives: an archive's expected index, and a working directory that
 * must stay empty. Included after cmocka.h. */
#ifndef ARCHIVE_CHECK_H
#define ARCHIVE_CHECK_H

#include <dirent.h>
#include <unistd.h>

#include "archive_maker.h"
#include "trace/base/limits.h"
#include "trace/read/archive/archive.h"

#define TRACE "{\"traceEvents\":[]}"

static char sandbox[VP_PATH_MAX];

typedef struct expect {
    int rc;
    size_t members, refusals;
    const char *why;    /* part of the message of every refusal */
    const char *member; /* name of the only or last member */
    int damage;
} expect;

static inline ar_index *check(bytes archive, expect x)
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

static inline void check_and_free(bytes archive, expect x)
{
    ar_index_free(check(archive, x));
    free(archive.p);
}

static inline bytes tar_of(tar_entry e)
{
    bytes b = {0};
    tar_add(&b, e);
    tar_add(&b, (tar_entry){.name = "good.json", .data = TRACE});
    tar_end(&b);
    return b;
}

static inline bytes zip_named(const char *name, unsigned flags)
{
    zip_maker z = {0};
    zip_add(&z, (zip_entry){.name = name, .data = TRACE, .n = strlen(TRACE), .flags = flags});
    zip_add(&z, (zip_entry){.name = "good.json", .data = TRACE, .n = strlen(TRACE)});
    return zip_end(&z);
}

/* Reads a member to its end. */
static inline rd_stream *open_member(bytes archive, uint32_t index)
{
    rd_stream *s = NULL;
    int fd = file_with(archive);
    assert_int_equal(ar_member_open(&s, fd, index), 0);
    close(fd);
    return s;
}

static inline int64_t drain(rd_stream *s)
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

static inline int enter_sandbox(void **state)
{
    (void)state;
    return vp_fs_temp_dir("hostile", sandbox) < 0 || chdir(sandbox) < 0;
}

/* The working directory must still be empty after the tests above. */
static inline int leave_sandbox(void **state)
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

#endif
