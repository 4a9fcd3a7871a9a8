/* What is kept on disk of objects that lie elsewhere stays within its bounds, and what was used
 * longest ago goes first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/source/kept.h"

#define KIB 1024
#define FILES 10
#define BYTES (64 * KIB)

static char place[64];

static int set_up(void **state)
{
    static kept k;
    snprintf(place, sizeof place, "/tmp/vp_kept_XXXXXX");
    if (!mkdtemp(place))
        return -1;
    k = (kept){.dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
               .most_bytes = INT64_C(1) << 40,
               .most_files = 1000};
    *state = &k;
    return k.dir < 0 ? -1 : pthread_mutex_init(&k.lock, NULL);
}

static void name_of(char out[KEPT_NAME], char i)
{
    kept_name(out, &(vp_str){&i, 1}, 1);
}

static int tear_down(void **state)
{
    kept *k = *state;
    char name[KEPT_NAME];
    for (char i = 0; i < FILES; i++) {
        name_of(name, i);
        kept_drop(k, name);
    }
    close(k->dir);
    pthread_mutex_destroy(&k->lock);
    return rmdir(place);
}

/* File i was used i seconds after the first. */
static void keep(kept *k, char i, int64_t said)
{
    static const char bytes[BYTES] = "x";
    char temp[KEPT_NAME], name[KEPT_NAME];
    int fd;
    name_of(name, i);
    assert_int_equal(kept_new(k, temp, &fd), 0);
    assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(fsync(fd), 0); /* its blocks are counted */
    const struct timespec at[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
    assert_int_equal(futimens(fd, at), 0);
    close(fd);
    kept_keep(k, temp, name, said);
}

static void keep_all(kept *k)
{
    for (char i = 0; i < FILES; i++)
        keep(k, i, 0);
}

/* Bytes of the file; 0: it is gone. */
static int64_t there(const kept *k, char i)
{
    struct stat st;
    char name[KEPT_NAME];
    name_of(name, i);
    return fstatat(k->dir, name, &st, 0) < 0 ? 0 : (int64_t)st.st_blocks * 512;
}

static void the_newest_bytes_stay(void **state)
{
    kept *k = *state;
    keep_all(k);
    int64_t one = there(k, 0), left = 0;
    assert_true(one >= BYTES);
    k->most_bytes = FILES * one;
    kept_trim(k);
    assert_true(there(k, 0) > 0); /* not beyond it */
    k->most_bytes = 4 * one;
    kept_trim(k);
    for (char i = 0; i < FILES; i++) {
        assert_int_equal(there(k, i) > 0, i >= FILES - 3);
        left += there(k, i);
    }
    assert_int_equal(left, 3 * one);
}

static void what_was_read_goes_last(void **state)
{
    kept *k = *state;
    char name[KEPT_NAME];
    int fd;
    keep_all(k);
    name_of(name, 0);
    assert_int_equal(kept_open(k, name, &fd), 0);
    close(fd);
    k->most_bytes = 4 * there(k, 1);
    kept_trim(k);
    assert_true(there(k, 0) && there(k, 9) && there(k, 8));
    for (char i = 1; i < 8; i++)
        assert_int_equal(there(k, i), 0);
    name_of(name, 1);
    assert_int_equal(kept_open(k, name, &fd), VP_ENOTFOUND);
}

static void half_of_too_many_files_stay(void **state)
{
    kept *k = *state;
    keep_all(k);
    k->most_files = FILES;
    kept_trim(k);
    assert_true(there(k, 0) > 0);
    k->most_files = 8;
    kept_trim(k);
    for (char i = 0; i < FILES; i++)
        assert_int_equal(there(k, i) > 0, i >= FILES - 4);
}

/* A quarter more than the bound is there at most, without anybody's asking. */
static void keeping_makes_room(void **state)
{
    kept *k = *state;
    k->most_bytes = 4 * BYTES;
    for (char i = 0; i < FILES; i++)
        keep(k, i, BYTES);
    assert_int_equal(there(k, 0), 0);
    assert_true(there(k, FILES - 1) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        CASE(the_newest_bytes_stay),
        CASE(what_was_read_goes_last),
        CASE(half_of_too_many_files_stay),
        CASE(keeping_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
