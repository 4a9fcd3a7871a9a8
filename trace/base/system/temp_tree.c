#include "trace/base/system/temp_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/str.h"

#define OPEN_DIRS 16
#define LOCK ".lock"

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st, (void)type, (void)where;
    remove(path);
    return 0;
}

void vp_remove_tree(const char *path)
{
    nftw(path, remove_one, OPEN_DIRS, FTW_DEPTH | FTW_PHYS);
}

static int lock_temp_tree(const char *dir, int flags, int *out)
{
    char path[VP_PATH_MAX + sizeof LOCK + 1];
    snprintf(path, sizeof path, "%s/" LOCK, dir);
    VP_CLEANUP(vp_fs_close) int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0)
        return vp_fail(VP_EIO, "cannot lock a temporary directory: %s", strerror(errno));
    *out = vp_fs_take(&fd);
    return 0;
}

static void remove_if_left(const char *dir)
{
    struct stat st;
    VP_CLEANUP(vp_fs_close) int fd = -1;
    if (lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
        lock_temp_tree(dir, 0, &fd) == 0)
        vp_remove_tree(dir);
}

/* Removes unlocked trees of the same name. `tree` is "PARENT/NAME_XXXXXX"; their names differ only
 * in the last six bytes. */
static void remove_left_behind(const char *tree)
{
    char parent[VP_PATH_MAX], path[VP_PATH_MAX + 256];
    vp_str base = vp_str_skip(vp_str_of(tree), vp_str_rfind_char(vp_str_of(tree), '/') + 1);
    vp_str stem = vp_str_head(base, base.n - 6);
    snprintf(parent, sizeof parent, "%.*s", (int)(base.p - tree), tree);
    DIR *d = opendir(parent);
    const struct dirent *e;
    while (d && (e = readdir(d))) {
        vp_str name = vp_str_of(e->d_name);
        if (name.n != base.n || !vp_str_starts(name, stem) || vp_str_eq(name, base))
            continue;
        snprintf(path, sizeof path, "%s%s", parent, e->d_name);
        remove_if_left(path);
    }
    if (d)
        closedir(d);
}

int vp_temp_tree_make(vp_temp_tree *t, const char *name)
{
    vp_temp_tree made = VP_TEMP_TREE_NONE;
    VP_TRY(vp_fs_temp_dir(name, made.path));
    int rc = lock_temp_tree(made.path, O_CREAT, &made.lock_fd);
    if (rc < 0) {
        vp_temp_tree_free(&made);
        return rc;
    }
    remove_left_behind(made.path);
    *t = made;
    return 0;
}

void vp_temp_tree_free(vp_temp_tree *t)
{
    if (t->path[0])
        vp_remove_tree(t->path);
    vp_fs_close(&t->lock_fd);
    t->path[0] = '\0';
}
