/* Trees of small files below a fresh temporary directory, for tests that list directories. */
#ifndef VP_TESTS_UNIT_TREE_H
#define VP_TESTS_UNIT_TREE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/base/fs.h"
#include "trace/base/limits.h"

typedef struct tree {
    char root[VP_PATH_MAX];
    char path[VP_PATH_MAX + 256]; /* of the last tree_at */
} tree;

static inline const char *tree_at(tree *t, const char *rel)
{
    snprintf(t->path, sizeof t->path, "%s%s%s", t->root, *rel ? "/" : "", rel);
    return t->path;
}

static inline void tree_make(tree *t)
{
    assert_int_equal(vp_fs_temp_dir("vp_test", t->root), 0);
}

static inline int tree_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline void tree_remove(tree *t)
{
    nftw(t->root, tree_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void tree_dirs_for(tree *t, const char *rel)
{
    tree_at(t, rel);
    for (char *p = t->path + strlen(t->root) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = 0;
        assert_true(mkdir(t->path, 0755) == 0 || errno == EEXIST);
    }
}

static inline void tree_dir(tree *t, const char *rel)
{
    tree_dirs_for(t, rel);
    assert_int_equal(mkdir(tree_at(t, rel), 0755), 0);
}

/* Entries of a directory. */
static inline size_t tree_count(tree *t, const char *rel)
{
    size_t n = 0;
    DIR *d = opendir(tree_at(t, rel));
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(d);
    return n;
}

static inline void tree_touch(tree *t, const char *rel, int64_t mtime_s)
{
    struct timespec times[2] = {{mtime_s, 0}, {mtime_s, 0}};
    assert_int_equal(utimensat(AT_FDCWD, tree_at(t, rel), times, 0), 0);
}

static inline void tree_bytes(tree *t, const char *rel, const void *p, size_t n, int64_t mtime_s)
{
    tree_dirs_for(t, rel);
    int fd = open(tree_at(t, rel), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(vp_fs_write_all(fd, p, n), 0);
    close(fd);
    tree_touch(t, rel, mtime_s);
}

static inline void tree_text(tree *t, const char *rel, const char *text, int64_t mtime_s)
{
    tree_bytes(t, rel, text, strlen(text), mtime_s);
}

/* 256 bytes that begin as the extension requires. */
static inline void tree_file(tree *t, const char *rel, int64_t mtime_s)
{
    static const char plane[] = "\x0a\xfd\x01\x12\xfa\x01/host:CPU", json[] = "{\"traceEvents\":[";
    char filler[256];
    memset(filler, 'x', sizeof filler);
    if (strstr(rel, ".xplane.pb"))
        memcpy(filler, plane, sizeof plane - 1);
    else if (strstr(rel, "trace.json"))
        memcpy(filler, json, sizeof json - 1);
    tree_bytes(t, rel, filler, sizeof filler, mtime_s);
}

#endif
