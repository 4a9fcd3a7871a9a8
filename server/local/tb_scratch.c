#include "server/local/tb_scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/system/temp_tree.h"
#include "trace/model/unpack/unpack.h"

#define HOST_MAX 200
#define RUNS_MAX 1000000u
#define XPLANE_PB ".xplane.pb"

/* State of a run when it was added to the tree. */
typedef struct added {
    char *id;
    int64_t mtime_ns, bytes;
    size_t files;
} added;

struct tb_scratch {
    vp_temp_tree tree;
    bool in_place;
    pthread_mutex_t lock; /* protects the list */
    added *runs;
    size_t count, cap;
};

static int scratch_os_fail(const char *what)
{
    return vp_fail(VP_EIO, "%s: %s", what, strerror(errno));
}

/* ---- The tree -------------------------------------------------------------------------------- */

int tb_scratch_new(tb_scratch **out, bool in_place)
{
    tb_scratch *s = vp_calloc(1, sizeof *s);
    VP_NEED(s);
    s->tree = (vp_temp_tree)VP_TEMP_TREE_NONE;
    s->in_place = in_place;
    pthread_mutex_init(&s->lock, NULL);
    int rc = vp_temp_tree_make(&s->tree, "view_profile_tensorboard");
    if (rc < 0) {
        tb_scratch_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

const char *tb_scratch_dir(const tb_scratch *s)
{
    return s->tree.path;
}

void tb_scratch_free(tb_scratch *s)
{
    if (!s)
        return;
    vp_temp_tree_free(&s->tree);
    for (size_t i = 0; i < s->count; i++)
        vp_free(s->runs[i].id);
    vp_free(s->runs);
    pthread_mutex_destroy(&s->lock);
    vp_free(s);
}

/* ---- Names ----------------------------------------------------------------------------------- */

size_t tb_next_xplane(const cat_session *session, size_t i)
{
    while (i < session->file_count && session->files[i].kind.format != RD_XSPACE)
        i++;
    return i;
}

static void clean_name(char *out, const cat_session *session, const cat_file *file)
{
    const char *host = file->host < session->host_count ? session->hosts[file->host].name : "";
    size_t n = 0;
    for (; host[n] && n < HOST_MAX; n++) {
        char c = host[n];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                     c == '-' || c == '_' || (c == '.' && n);
        out[n] = plain ? c : '_';
    }
    if (!n)
        out[n++] = '_';
    out[n] = '\0';
}

void tb_host_name(char *out, const cat_session *session, size_t file, bool links)
{
    char other[HOST_MAX + 1];
    size_t twins = 0;
    if (!links) {
        vp_str stem = vp_str_of(session->files[file].name), suffix = VP_STR(XPLANE_PB);
        stem.n -= vp_str_ends(stem, suffix) ? suffix.n : 0;
        snprintf(out, VP_MEMBER_NAME_MAX, "%.*s", VP_STR_ARG(stem));
        return;
    }
    clean_name(out, session, &session->files[file]);
    for (size_t i = tb_next_xplane(session, 0); i < file; i = tb_next_xplane(session, i + 1)) {
        clean_name(other, session, &session->files[i]);
        twins += strcmp(other, out) == 0;
    }
    if (twins)
        snprintf(out + strlen(out), 32, "~%zu", twins + 1);
}

/* ---- One file -------------------------------------------------------------------------------- */

static bool on_disk_as_it_is(const cat_file *f)
{
    return !f->is_member && !f->kind.gzip;
}

int64_t tb_scratch_to_copy(const cat_session *session)
{
    int64_t bytes = 0;
    for (size_t i = tb_next_xplane(session, 0); i < session->file_count;
         i = tb_next_xplane(session, i + 1)) {
        const cat_file *f = &session->files[i];
        if (!on_disk_as_it_is(f))
            bytes += f->bytes > 0 ? f->bytes : 1;
    }
    return bytes;
}

/* The path of an open file, from /proc/self/fd. */
static int path_of_descriptor(char *out, int fd)
{
    char proc[64];
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(proc, out, VP_PATH_MAX - 1);
    if (n < 0 || n >= (ssize_t)VP_PATH_MAX - 1)
        return scratch_os_fail("cannot resolve the path of the profile");
    out[n] = '\0';
    return 0;
}

/* Opens the file and checks that it is the listed one. */
static int link_file(int dir, const char *name, const catalog *c, const cat_file *f)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    char target[VP_PATH_MAX];
    VP_TRY(catalog_fd(&fd, c, f));
    VP_TRY(path_of_descriptor(target, fd));
    return symlinkat(target, dir, name) == 0 ? 0 : scratch_os_fail("cannot link the profile");
}

typedef struct copying {
    vp_progress_fn *progress;
    void *ctx;
    int64_t before, present, total; /* bytes, as tb_scratch_to_copy counts */
} copying;

static int on_copy_progress(void *ctx, int64_t done, int64_t total)
{
    const copying *c = ctx;
    double part = total > 0 ? (double)done / (double)total : 0;
    return c->progress
               ? c->progress(c->ctx, c->before + (int64_t)((double)c->present * part), c->total)
               : 0;
}

static int copy_scratch_file(int dir, const char *name, const catalog *c, const cat_file *f,
                             copying *state)
{
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    VP_CLEANUP(vp_fs_close) int fd = -1;
    unpack_copy copy = {
        .max = VP_ARCHIVE_MEMBER_MAX, .progress = on_copy_progress, .progress_ctx = state};
    VP_TRY(catalog_stream(&s, c, f, false));
    fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return scratch_os_fail("cannot copy the profile out of its archive");
    state->present = f->bytes > 0 ? f->bytes : 1;
    VP_TRY(unpack_stream(fd, s, &copy));
    state->before += state->present;
    return 0;
}

/* ---- A session ------------------------------------------------------------------------------- */

static int make_scratch_dir(int parent, const char *name, int *fd)
{
    if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST)
        return scratch_os_fail("cannot create the scratch directory of TensorBoard");
    int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return scratch_os_fail("cannot open the scratch directory of TensorBoard");
    vp_fs_close(fd);
    *fd = dir;
    return 0;
}

/* An open descriptor on dir/plugins/profile. */
static int profile_dir(int *out, const char *dir)
{
    VP_CLEANUP(vp_fs_close) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return scratch_os_fail("the scratch directory of TensorBoard was removed");
    VP_TRY(make_scratch_dir(fd, "plugins", &fd));
    VP_TRY(make_scratch_dir(fd, "profile", &fd));
    *out = vp_fs_take(&fd);
    return 0;
}

static int add_scratch_files(int run, const catalog *c, const cat_session *session, copying *state)
{
    char host[VP_MEMBER_NAME_MAX], name[VP_MEMBER_NAME_MAX + sizeof XPLANE_PB];
    for (size_t i = tb_next_xplane(session, 0); i < session->file_count;
         i = tb_next_xplane(session, i + 1)) {
        const cat_file *f = &session->files[i];
        tb_host_name(host, session, i, true);
        snprintf(name, sizeof name, "%s" XPLANE_PB, host);
        int rc = on_disk_as_it_is(f) ? link_file(run, name, c, f)
                                     : copy_scratch_file(run, name, c, f, state);
        if (rc < 0)
            return vp_fail_at(rc, f->path, -1, -1);
    }
    return 0;
}

/* True if the directory of the run can be linked: a directory in plugins/profile that contains only
 * this run, without archives. */
bool tb_scratch_in_place(const tb_scratch *s, const cat_session *session)
{
    bool good = s->in_place && !session->stray;
    for (size_t i = tb_next_xplane(session, 0); good && i < session->file_count;
         i = tb_next_xplane(session, i + 1)) {
        const cat_file *f = &session->files[i];
        vp_str dir = vp_str_of(f->location), name = vp_str_of(f->name);
        good =
            on_disk_as_it_is(f) && vp_str_ends(name, VP_STR(XPLANE_PB)) && vp_str_ends(dir, name);
        dir.n -= good ? name.n + (dir.n > name.n) : 0;
        good = good &&
               (dir.n ? vp_str_eq(dir, vp_str_of(session->path)) : strcmp(session->path, ".") == 0);
    }
    return good;
}

static int link_directory(const char *path, const catalog *c, const cat_session *session)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    char target[VP_PATH_MAX];
    VP_TRY(catalog_fd(&fd, c, &session->files[tb_next_xplane(session, 0)]));
    VP_TRY(path_of_descriptor(target, fd));
    *strrchr(target, '/') = '\0';
    return symlink(target, path) == 0 ? 0 : scratch_os_fail("cannot link the profile");
}

static added *find_scratch_run(const tb_scratch *s, const cat_session *session)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->runs[i].id, session->id) == 0)
            return &s->runs[i];
    return NULL;
}

bool tb_scratch_has(tb_scratch *s, const cat_session *session)
{
    pthread_mutex_lock(&s->lock);
    const added *a = find_scratch_run(s, session);
    bool same = a && a->mtime_ns == session->newest_mtime_ns && a->bytes == session->bytes &&
                a->files == session->file_count;
    pthread_mutex_unlock(&s->lock);
    return same;
}

static int remember_scratch_run(tb_scratch *s, const cat_session *session)
{
    int rc = 0;
    pthread_mutex_lock(&s->lock);
    added *a = find_scratch_run(s, session);
    if (!a) {
        char *id = vp_strdup(session->id);
        rc = id ? vp_grow(&s->runs, &s->cap, s->count + 1, sizeof *s->runs, RUNS_MAX)
                : vp_no_memory();
        if (rc == 0)
            (a = &s->runs[s->count++])->id = id;
        else
            vp_free(id);
    }
    if (rc == 0) {
        a->mtime_ns = session->newest_mtime_ns;
        a->bytes = session->bytes;
        a->files = session->file_count;
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* A run is assembled outside of plugins/profile, where TensorBoard does not list it, and then
 * renamed, so that TensorBoard never shows an incomplete run and a failed attempt can be repeated.
 */
int tb_scratch_add(tb_scratch *s, const catalog *c, const cat_session *session,
                   vp_progress_fn *progress, void *ctx)
{
    VP_CLEANUP(vp_fs_close) int profiles = -1;
    VP_CLEANUP(vp_fs_close) int filling = -1;
    char path[VP_PATH_MAX + 16], old[VP_PATH_MAX + VP_MEMBER_NAME_MAX];
    copying state = {.progress = progress, .ctx = ctx, .total = tb_scratch_to_copy(session)};
    if (tb_next_xplane(session, 0) == session->file_count)
        return vp_fail(VP_EUNSUPPORTED, "TensorBoard needs an xplane file");
    VP_TRY(profile_dir(&profiles, s->tree.path));
    snprintf(path, sizeof path, "%s/filling", s->tree.path);
    vp_remove_tree(path);
    if (tb_scratch_in_place(s, session)) {
        VP_TRY(link_directory(path, c, session));
    } else {
        VP_TRY(make_scratch_dir(AT_FDCWD, path, &filling));
        VP_TRY(add_scratch_files(filling, c, session, &state));
    }
    snprintf(old, sizeof old, "%s/plugins/profile/%s", s->tree.path, session->id);
    vp_remove_tree(old);
    if (renameat(AT_FDCWD, path, profiles, session->id) != 0)
        return scratch_os_fail("cannot show the profile to TensorBoard");
    return remember_scratch_run(s, session);
}
