/* The tree of a mirror: directories, and files that have a size and a time but no content. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/source/mirror_impl.h"

static int cannot(const char *what)
{
    int code = errno == ENOSPC || errno == EDQUOT ? VP_ENOSPC : VP_EIO;
    return vp_fail(code, "%s in the cache directory: %s", what, strerror(errno));
}

int mirror_make_dirs(const char *path, size_t from, bool *made)
{
    char part[VP_PATH_MAX];
    size_t n = strlen(path);
    *made = false;
    for (size_t i = from; i <= n; i++) {
        if (i < n && path[i] != '/')
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        *made = mkdir(part, 0700) == 0;
        if (!*made && errno != EEXIST)
            return vp_fail_at(cannot("no directory can be made"), part, -1, -1);
    }
    return 0;
}

/* ---- Putting --------------------------------------------------------------------------------- */

/* Marks path and those above it. */
static int mark(mirror_listing *l, vp_str path)
{
    for (size_t i = path.n; i > 0; i--) {
        if (i < path.n && path.p[i] != '/')
            continue;
        uint64_t key = mirror_key(vp_str_head(path, i));
        if (vp_map_get(&l->table->dirs, key) != VP_MAP_NONE)
            return 0;
        VP_TRY(vp_map_set(&l->table->dirs, key, 0));
    }
    return 0;
}

static void make_beneath(int root, const char *path)
{
    char part[VP_MEMBER_NAME_MAX + 1];
    if (!*path || mkdirat(root, path, 0700) == 0 || errno != ENOENT)
        return;
    for (size_t i = 1; path[i - 1]; i++)
        if (!path[i] || path[i] == '/') {
            memcpy(part, path, i);
            part[i] = 0;
            (void)mkdirat(root, part, 0700);
        }
}

/* Opens it, made where it is not there. 1: a file has its name. */
static int enter(mirror_listing *l, vp_str path)
{
    bool is_dir = false;
    if (l->dir_fd >= 0 && vp_str_eq(path, vp_str_of(l->dir)))
        return 0;
    vp_fs_close(&l->dir_fd);
    memcpy(l->dir, path.p, path.n);
    l->dir[path.n] = 0;
    VP_TRY(mark(l, path));
    if ((l->fresh && path.n) ||
        vp_fs_open_beneath(l->root, l->dir, &l->dir_fd, &is_dir, NULL) == VP_ENOTFOUND) {
        make_beneath(l->root, l->dir);
        (void)vp_fs_open_beneath(l->root, l->dir, &l->dir_fd, &is_dir, NULL);
    }
    if (!is_dir)
        vp_fs_close(&l->dir_fd);
    return is_dir ? 0 : 1;
}

int mirror_put_dir(mirror_listing *l, vp_str path)
{
    int rc = enter(l, path);
    return rc < 0 ? rc : 0;
}

static bool is_such(const struct stat *st, int64_t bytes, int64_t mtime_ns)
{
    vp_file_id id = vp_fs_id(st);
    return S_ISREG(st->st_mode) && st->st_nlink == 1 && id.size == bytes && id.mtime_ns == mtime_ns;
}

/* Gives the name a file of that size and time without content. 1: it cannot have one. */
static int make_file(int dir, const char *name, int64_t bytes, int64_t mtime_ns, bool fresh,
                     uint64_t *ino)
{
    struct stat st;
    VP_CLEANUP(vp_fs_close) int fd = -1;
    if (!fresh && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        *ino = st.st_ino;
        if (is_such(&st, bytes, mtime_ns))
            return 0;
        if (S_ISDIR(st.st_mode))
            return 1;
    }
    fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return errno == ENOSPC || errno == EDQUOT ? cannot("no file can be made") : 1;
    const struct timespec times[2] = {
        {.tv_nsec = UTIME_OMIT},
        {.tv_sec = (time_t)(mtime_ns / 1000000000), .tv_nsec = (long)(mtime_ns % 1000000000)}};
    if (ftruncate(fd, (off_t)bytes) < 0 || futimens(fd, times) < 0) {
        (void)unlinkat(dir, name, 0);
        return 1;
    }
    *ino = st.st_ino;
    return 0;
}

/* The time that its file gets: one that changed and keeps its size and time is told apart. */
static int64_t time_of(const mirror_listing *l, vp_str path, const source_entry *e)
{
    const mirror_entry *was = l->old ? mirror_at(l->old, path) : NULL;
    int64_t at = e->mtime_ns > 0 ? e->mtime_ns : 0;
    if (!was || was->bytes != e->bytes || was->mtime_ns < at || was->mtime_ns - at > 1000000)
        return at;
    bool same = !e->etag.n || !was->etag[0] || vp_str_eq(e->etag, vp_str_of(was->etag));
    return was->mtime_ns + (same ? 0 : 1);
}

int mirror_put_file(mirror_listing *l, vp_str path, vp_str name, const source_entry *e)
{
    char base[NAME_MAX + 1];
    mirror_table *t = l->table;
    vp_str dir = vp_str_head(path, path.n > name.n ? path.n - name.n - 1 : 0);
    if (e->bytes > VP_REMOTE_OBJECT_MAX || e->etag.n >= MIRROR_ETAG || mirror_at(t, path))
        return 0;
    int rc = enter(l, dir);
    if (rc)
        return rc < 0 ? rc : 0;
    memcpy(base, name.p, name.n);
    base[name.n] = 0;
    mirror_entry x = {.bytes = e->bytes, .mtime_ns = time_of(l, path, e)};
    rc = make_file(l->dir_fd, base, x.bytes, x.mtime_ns, l->fresh, &x.ino);
    if (rc)
        return rc < 0 ? rc : 0;
    x.path = vp_arena_strndup(&t->arena, path.p, path.n);
    x.etag = vp_arena_strndup(&t->arena, e->etag.n ? e->etag.p : "", e->etag.n);
    VP_NEED(x.path && x.etag);
    VP_TRY(vp_grow(&t->entries, &t->cap, t->n + 1, sizeof *t->entries, VP_WALK_ENTRIES_MAX));
    VP_TRY(vp_map_set(&t->by_ino, x.ino, (uint32_t)t->n));
    VP_TRY(vp_map_set(&t->by_path, mirror_key(path), (uint32_t)t->n));
    t->entries[t->n++] = x;
    return 0;
}

/* ---- Sweeping -------------------------------------------------------------------------------- */

/* Directories in the order in which they were met, those above first. */
typedef struct sweep {
    mirror_listing *l;
    char **dirs;
    size_t n, cap;
} sweep;

static void sweep_free(sweep *s)
{
    for (size_t i = 0; i < s->n; i++)
        vp_free(s->dirs[i]);
    vp_free(s->dirs);
}

static int add_dir(sweep *s, const char *path)
{
    VP_TRY(vp_grow(&s->dirs, &s->cap, s->n + 1, sizeof *s->dirs, VP_WALK_ENTRIES_MAX));
    s->dirs[s->n] = vp_strdup(path);
    VP_NEED(s->dirs[s->n]);
    s->n++;
    return 0;
}

static int sweep_entry(sweep *s, int fd, const char *dir, const struct dirent *e)
{
    char path[VP_PATH_MAX];
    const char *name = e->d_name;
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return 0;
    int n = snprintf(path, sizeof path, "%s%s%s", dir, *dir ? "/" : "", name);
    if (n < 0 || n >= (int)sizeof path)
        return 0;
    if (!mirror_at(s->l->table, vp_str_of(path)) && unlinkat(fd, name, 0) < 0 && errno == EISDIR)
        return add_dir(s, path);
    return 0;
}

static int sweep_dir(sweep *s, const char *path)
{
    const struct dirent *e;
    int fd = -1, rc = 0;
    bool is_dir = false;
    if (vp_fs_open_beneath(s->l->root, path, &fd, &is_dir, NULL) < 0)
        return 0;
    DIR *d = is_dir ? fdopendir(fd) : NULL;
    if (!d) {
        vp_fs_close(&fd);
        return 0;
    }
    while (rc >= 0 && (e = readdir(d)))
        rc = sweep_entry(s, dirfd(d), path, e);
    closedir(d);
    return rc;
}

int mirror_sweep(mirror_listing *l)
{
    VP_CLEANUP(sweep_free) sweep s = {.l = l};
    VP_TRY(add_dir(&s, ""));
    for (size_t i = 0; i < s.n; i++)
        VP_TRY(sweep_dir(&s, s.dirs[i]));
    while (s.n > 1) {
        vp_str path = vp_str_of(s.dirs[s.n - 1]);
        if (vp_map_get(&l->table->dirs, mirror_key(path)) == VP_MAP_NONE)
            (void)unlinkat(l->root, path.p, AT_REMOVEDIR);
        vp_free(s.dirs[--s.n]);
    }
    return 0;
}
