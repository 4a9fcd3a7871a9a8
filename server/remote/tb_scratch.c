#include "server/remote/tb_scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/limits.h"
#include "trace/base/mem.h"

#define OPEN_DIRS 16

struct tb_scratch {
    char dir[VP_PATH_MAX];
};

static int os_fail(const char *what)
{
    return vp_fail(VP_EIO, "%s: %s", what, strerror(errno));
}

static int make_dir(int parent, const char *name, int *fd)
{
    if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST)
        return os_fail("cannot make TensorBoard's scratch directory");
    int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return os_fail("cannot open TensorBoard's scratch directory");
    vp_fs_close(fd);
    *fd = dir;
    return 0;
}

/* An open descriptor on dir/plugins/profile. */
static int profile_dir(int *out, const char *dir)
{
    VP_CLEANUP(vp_fs_close) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return os_fail("TensorBoard's scratch directory is gone");
    VP_TRY(make_dir(fd, "plugins", &fd));
    VP_TRY(make_dir(fd, "profile", &fd));
    *out = vp_fs_take(&fd);
    return 0;
}

int tb_scratch_new(tb_scratch **out)
{
    tb_scratch *s = vp_calloc(1, sizeof *s);
    if (!s)
        return vp_fail(VP_ENOMEM, "out of memory");
    int rc = vp_fs_temp_dir("view_profile_tensorboard", s->dir);
    if (rc < 0) {
        vp_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

const char *tb_scratch_dir(const tb_scratch *s)
{
    return s->dir;
}

size_t tb_next_xplane(const cat_session *session, size_t i)
{
    while (i < session->file_count && session->files[i].kind.format != RD_XSPACE)
        i++;
    return i;
}

void tb_host_name(char *out, const cat_session *session, const cat_file *file)
{
    const char *host = file->host < session->host_count ? session->hosts[file->host].name : "";
    size_t n = 0;
    for (; host[n] && n < 200; n++) {
        char c = host[n];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                     c == '-' || c == '_' || (c == '.' && n);
        out[n] = plain ? c : '_';
    }
    if (!n)
        out[n++] = '_';
    out[n] = '\0';
}

/* The file on disk, verified to be the listed one, by the name the kernel has for it. */
static int link_file(int dir, const char *name, const catalog *c, const cat_file *f)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    char proc[64], target[VP_PATH_MAX];
    VP_TRY(catalog_fd(&fd, c, f));
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(proc, target, sizeof target - 1);
    if (n < 0 || n >= (ssize_t)sizeof target - 1)
        return os_fail("cannot find the profile's path");
    target[n] = '\0';
    return symlinkat(target, dir, name) == 0 ? 0 : os_fail("cannot link the profile");
}

static int copy_file(int dir, const char *name, const catalog *c, const cat_file *f)
{
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    VP_CLEANUP(vp_fs_close) int fd = -1;
    VP_TRY(catalog_stream(&s, c, f, false));
    fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return os_fail("cannot copy the profile out of its archive");
    for (;;) {
        char *p;
        size_t n;
        int rc = s->next(s, &p, &n);
        if (rc <= 0)
            return rc;
        VP_TRY(vp_fs_write_all(fd, p, n));
    }
}

static bool on_disk_as_it_is(const cat_file *f)
{
    return !f->is_member && !f->kind.gzip;
}

static int add_file(int dir, const catalog *c, const cat_session *session, const cat_file *f)
{
    char host[VP_MEMBER_NAME_MAX], name[VP_MEMBER_NAME_MAX];
    tb_host_name(host, session, f);
    int n = snprintf(name, sizeof name, "%s.xplane.pb", host);
    for (int twin = 2; faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 && twin < 1000; twin++)
        n = snprintf(name, sizeof name, "%s_%d.xplane.pb", host, twin);
    if (n < 0 || n >= (int)sizeof name)
        return vp_fail(VP_ELIMIT, "the host's name is too long");
    return on_disk_as_it_is(f) ? link_file(dir, name, c, f) : copy_file(dir, name, c, f);
}

static int add_files(int run, const catalog *c, const cat_session *session)
{
    for (size_t i = tb_next_xplane(session, 0); i < session->file_count;
         i = tb_next_xplane(session, i + 1))
        VP_TRY(vp_fail_at(add_file(run, c, session, &session->files[i]), session->files[i].path, -1,
                          -1));
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st, (void)type, (void)where;
    remove(path);
    return 0;
}

/* Never follows a link: what the links point at is the user's. */
static void remove_tree(const char *path)
{
    nftw(path, remove_one, OPEN_DIRS, FTW_DEPTH | FTW_PHYS);
}

/* A run is filled outside plugins/profile, where TensorBoard does not list it, and then renamed: it
 * never shows half of it, and a failed attempt can be repeated. */
int tb_scratch_add(tb_scratch *s, const catalog *c, const cat_session *session)
{
    VP_CLEANUP(vp_fs_close) int profiles = -1;
    VP_CLEANUP(vp_fs_close) int filling = -1;
    char path[VP_PATH_MAX + 16];
    if (tb_next_xplane(session, 0) == session->file_count)
        return vp_fail(VP_EUNSUPPORTED, "TensorBoard needs an xplane file");
    VP_TRY(profile_dir(&profiles, s->dir));
    if (faccessat(profiles, session->id, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    snprintf(path, sizeof path, "%s/filling", s->dir);
    remove_tree(path);
    VP_TRY(make_dir(AT_FDCWD, path, &filling));
    VP_TRY(add_files(filling, c, session));
    if (renameat(AT_FDCWD, path, profiles, session->id) != 0)
        return os_fail("cannot show the profile to TensorBoard");
    return 0;
}

void tb_scratch_free(tb_scratch *s)
{
    if (!s)
        return;
    remove_tree(s->dir);
    vp_free(s);
}
