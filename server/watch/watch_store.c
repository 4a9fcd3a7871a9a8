#include "server/watch/watch_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/capture/disk/small_files.h"

#define LOCK ".view_profile-watch.lock"
#define READ_MAX (64u << 20)

static int open_watch_dir(const char *out, const char *name, int *fd)
{
    char path[VP_PATH_MAX];
    int n = snprintf(path, sizeof path, "%s%s%s", out, name[0] ? "/" : "", name);
    if (n < 0 || n >= (int)sizeof path)
        return vp_fail(VP_ELIMIT, "--out: the path is too long");
    VP_TRY(cap_make_dirs(path));
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return cap_file_fail("open the directory", path, errno);
    if (faccessat(*fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
        return cap_file_fail("write to the directory", path, errno);
    return 0;
}

static int take_lock(watch_store *s)
{
    s->lock = openat(s->dir, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (s->lock < 0)
        return vp_fail_at(cap_file_fail("write", LOCK, errno), s->out, -1, -1);
    if (flock(s->lock, LOCK_EX | LOCK_NB) == 0)
        return 0;
    vp_fail(VP_EBUSY,
            "another view_profile watch uses this directory; stop it or choose another --out");
    return vp_fail_at(VP_EBUSY, s->at.url ? s->at.url : s->out, -1, -1);
}

static int open_watch_dirs(watch_store *s)
{
    VP_TRY(open_watch_dir(s->out, "", &s->dir));
    VP_TRY(take_lock(s));
    return open_watch_dir(s->out, WATCH_INNER, &s->inner);
}

/* The local state of an address, readable only by its owner. */
static int find_place(watch_store *s, const char *out)
{
    char parent[VP_PATH_MAX];
    VP_TRY(source_address_read(&s->at, out));
    VP_TRY(source_address_place(s->out, &s->at));
    snprintf(parent, sizeof parent, "%s", s->out);
    *strrchr(parent, '/') = 0;
    VP_TRY(cap_make_dirs(parent));
    return mkdir(s->out, 0700) == 0 || errno == EEXIST
               ? 0
               : cap_file_fail("create the directory", s->out, errno);
}

int watch_store_open(watch_store *s, const watch_options *o)
{
    char full[VP_PATH_MAX];
    const char *dir = cap_full_dir(full, o->out ? o->out : ".");
    *s = (watch_store){.dir = -1, .inner = -1, .lock = -1};
    s->single = o->target_count == 1 && !o->hosts_file;
    int rc = 0;
    if (o->out && source_is_address(o->out))
        rc = find_place(s, o->out);
    else if (snprintf(s->out, sizeof s->out, "%s", dir) >= (int)sizeof s->out)
        rc = vp_fail(VP_ELIMIT, "--out: the path is too long");
    if (rc >= 0)
        rc = open_watch_dirs(s);
    if (rc < 0)
        watch_store_close(s);
    return rc;
}

void watch_store_close(watch_store *s)
{
    vp_fs_close(&s->inner);
    vp_fs_close(&s->dir);
    vp_fs_close(&s->lock);
    source_address_free(&s->at);
}

void watch_run_path(char out[VP_PATH_MAX], const char *run)
{
    snprintf(out, VP_PATH_MAX, "plugins/profile/%.255s", run);
}

static int inner_name(char out[VP_PATH_MAX], const char *name, const char *suffix)
{
    int n = snprintf(out, VP_PATH_MAX, "%s.%s", name, suffix);
    return n > 0 && n < 256 ? 0 : vp_fail(VP_ELIMIT, "%.100s…: the name is too long", name);
}

int watch_inner_path(const watch_store *s, char out[VP_PATH_MAX], const char *name,
                     const char *suffix)
{
    int n = snprintf(out, VP_PATH_MAX, "%s/" WATCH_INNER "/%s.%s", s->out, name, suffix);
    return n > 0 && n < (int)VP_PATH_MAX ? 0 : vp_fail(VP_ELIMIT, "--out: the path is too long");
}

bool watch_inner_has(const watch_store *s, const char *name, const char *suffix)
{
    char file[VP_PATH_MAX];
    struct stat st;
    return inner_name(file, name, suffix) >= 0 &&
           fstatat(s->inner, file, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

void watch_inner_remove(const watch_store *s, const char *name, const char *suffix)
{
    char file[VP_PATH_MAX];
    if (inner_name(file, name, suffix) >= 0)
        (void)unlinkat(s->inner, file, 0);
}

int watch_inner_read(const watch_store *s, vp_buf *b, const char *name, const char *suffix)
{
    char file[VP_PATH_MAX];
    VP_CLEANUP(vp_fs_close) int fd = -1;
    bool is_dir;
    vp_file_id id;
    size_t got;
    VP_TRY(inner_name(file, name, suffix));
    VP_TRY(vp_fs_open_beneath(s->inner, file, &fd, &is_dir, &id));
    if (is_dir || id.size > (int64_t)READ_MAX)
        return vp_fail(VP_ELIMIT, "%s is too large", file);
    char *room = vp_buf_reserve(b, (size_t)id.size + 1);
    if (!room)
        return b->status;
    VP_TRY(vp_fs_pread(fd, room, (size_t)id.size, 0, &got));
    return vp_buf_wrote(b, got);
}
