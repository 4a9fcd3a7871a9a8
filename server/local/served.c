#include "server/local/served.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/str.h"
#include "trace/base/system/live_dir.h"

#define SUFFIX ".serve"

static int own = -1;

void served_prepare(void)
{
    char dir[VP_PATH_MAX], path[VP_PATH_MAX + 32];
    if (vp_live_dir(dir, true) < 0)
        return;
    snprintf(path, sizeof path, "%s/%ld" SUFFIX, dir, (long)getpid());
    own = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    /* A process in another pid namespace may have the same pid. */
    if (own >= 0 && (flock(own, LOCK_EX | LOCK_NB) < 0 || ftruncate(own, 0) < 0))
        vp_fs_close(&own);
}

/* Normalized for comparison: absolute without symbolic links, or an address without trailing '/'.
 */
static void normalize_served_path(char out[VP_PATH_MAX], const char *dir)
{
    if (strstr(dir, "://") || !realpath(dir, out))
        snprintf(out, VP_PATH_MAX, "%s", dir);
    for (size_t n = strlen(out); n > 1 && out[n - 1] == '/'; n--)
        out[n - 1] = 0;
}

void served_tell(const char *url, const char *dir)
{
    char text[2 * VP_PATH_MAX], where[VP_PATH_MAX];
    if (own < 0 || strchr(url, '\n') || strchr(dir, '\n'))
        return;
    normalize_served_path(where, dir);
    int n = snprintf(text, sizeof text, "%s\n%s\n", url, where);
    if (n > 0 && n < (int)sizeof text)
        (void)vp_fs_write_all(own, text, (size_t)n);
}

void served_end(void)
{
    if (own >= 0)
        (void)!ftruncate(own, 0); /* the sandbox does not permit removing it */
    vp_fs_close(&own);
}

/* Reads a file; removes it if no process holds its lock. */
static bool read_served_file(int dir, const char *name, char *text, size_t cap)
{
    size_t got = 0;
    VP_CLEANUP(vp_fs_close)
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
        (void)unlinkat(dir, name, 0);
        return false;
    }
    if (vp_fs_pread(fd, text, cap - 1, 0, &got) < 0)
        return false;
    text[got] = 0;
    return true;
}

/* Length of the part of dir that is the served directory; 0: not below it. */
static size_t served_prefix_length(const char *dir, vp_str served)
{
    size_t n = strlen(dir);
    bool root = served.n == 1 && served.p[0] == '/';
    if (!served.n || served.n > n || strncmp(dir, served.p, served.n) != 0)
        return 0;
    return root || !dir[served.n] || dir[served.n] == '/' ? served.n : 0;
}

bool served_find(char url[VP_PATH_MAX], const char *dir, bool *exact)
{
    char where[VP_PATH_MAX], live[VP_PATH_MAX], text[2 * VP_PATH_MAX];
    size_t best = 0;
    normalize_served_path(where, dir);
    DIR *d = vp_live_dir(live, false) == 0 ? opendir(live) : NULL;
    for (const struct dirent *e; d && (e = readdir(d));) {
        if (!vp_str_ends(vp_str_of(e->d_name), VP_STR(SUFFIX)) ||
            !read_served_file(dirfd(d), e->d_name, text, sizeof text))
            continue;
        vp_str rest = vp_str_of(text), at, served;
        if (!vp_take_until(&rest, '\n', VP_PATH_MAX - 1, &at) ||
            !vp_take_until(&rest, '\n', VP_PATH_MAX - 1, &served))
            continue;
        size_t n = served_prefix_length(where, served);
        if (n > best) {
            best = n;
            snprintf(url, VP_PATH_MAX, "%.*s", (int)at.n, at.p);
        }
    }
    if (d)
        closedir(d);
    *exact = best == strlen(where);
    return best > 0;
}
