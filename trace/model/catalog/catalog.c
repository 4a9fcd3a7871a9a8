#include "trace/model/catalog/catalog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog_impl.h"

static catalog *catalog_new(const char *path)
{
    catalog *c = vp_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    atomic_init(&c->refs, 1);
    c->root_fd = c->spool_fd = -1;
    vp_arena_init(&c->arena);
    cat_memo_init(&c->memo);
    c->path = vp_arena_strndup(&c->arena, path, strlen(path));
    if (!c->path) {
        catalog_free(c);
        return NULL;
    }
    return c;
}

catalog *catalog_ref(catalog *c)
{
    atomic_fetch_add(&c->refs, 1);
    return c;
}

void catalog_free(catalog *c)
{
    if (!c || atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    vp_fs_close(&c->root_fd);
    vp_fs_close(&c->spool_fd);
    cat_memo_free(&c->memo);
    mirror_free(c->mirror);
    vp_free(c->sessions);
    vp_free(c->notes);
    vp_arena_free(&c->arena);
    vp_free(c);
}

static void catalog_drop(catalog **c)
{
    catalog_free(*c);
}

static int set_real(catalog *c, const char *path, size_t n)
{
    c->real = vp_arena_strndup(&c->arena, path, n);
    return c->real ? 0 : cat_no_memory();
}

static int resolve_catalog_path(const char *path, char *real)
{
    if (realpath(path, real))
        return 0;
    vp_fail(VP_EIO, "cannot resolve the path: %s", strerror(errno));
    return vp_fail_at(VP_EIO, path, -1, -1);
}

static int scan_directory(cat_scan *s, int *fd, const char *real)
{
    VP_TRY(set_real(s->c, real, strlen(real)));
    s->c->root_fd = vp_fs_take(fd);
    VP_TRY(cat_walk(s));
    return s->links_ignored ? cat_note_add(s->c, ".", "symbolic links were not followed") : 0;
}

/* The root becomes the directory of the file, so that files can be opened beneath it. */
static int scan_file(cat_scan *s, const char *real, const vp_file_id *id)
{
    const char *slash = strrchr(real, '/');
    bool is_dir;
    s->c->single = true;
    VP_TRY(set_real(s->c, real, slash == real ? 1 : (size_t)(slash - real)));
    VP_TRY(vp_fs_open_user(s->c->real, &s->c->root_fd, &is_dir, NULL));
    return cat_walk_file(s, slash + 1, id);
}

/* Standard input is spooled, because it can be read only once. */
static int spool_stdin(int *out)
{
    rd_stream *in VP_CLEANUP(rd_stream_close) = NULL;
    VP_CLEANUP(vp_fs_close) int temp = -1, input = dup(STDIN_FILENO);
    char *p;
    size_t n;
    int rc;
    if (input < 0)
        return vp_fail(VP_EIO, "cannot read standard input: %s", strerror(errno));
    VP_TRY(vp_fs_temp(&temp));
    VP_TRY(rd_stream_pipe(&in, vp_fs_take(&input)));
    while ((rc = in->next(in, &p, &n)) > 0)
        VP_TRY(vp_fs_write_all(temp, p, n));
    VP_TRY(rc);
    *out = vp_fs_take(&temp);
    return 0;
}

static int scan_stdin(cat_scan *s)
{
    vp_file_id id;
    s->c->single = true;
    VP_TRY(set_real(s->c, "", 0));
    VP_TRY(spool_stdin(&s->c->spool_fd));
    VP_TRY(vp_fs_identity(s->c->spool_fd, &id));
    return cat_walk_file(s, "stdin", &id);
}

static int scan_path(cat_scan *s, const char *path)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    char real[VP_PATH_MAX];
    vp_file_id id;
    bool is_dir;
    if (!strcmp(path, "-"))
        return scan_stdin(s);
    VP_TRY(vp_fs_open_user(path, &fd, &is_dir, &id));
    VP_TRY(resolve_catalog_path(path, real));
    return is_dir ? scan_directory(s, &fd, real) : scan_file(s, real, &id);
}

/* Reports names that a mirror omitted like unreadable local files. */
static int note_mirror_left_out(catalog *c)
{
    const char *why;
    char text[256];
    uint64_t n = mirror_left_out(c->mirror, &why);
    if (!n)
        return 0;
    snprintf(text, sizeof text, "%llu name%s skipped: %s", (unsigned long long)n, n == 1 ? "" : "s",
             why);
    return cat_note_add(c, ".", text);
}

static int scan_mirror(cat_scan *s)
{
    const cat_options *o = s->opts;
    const mirror_renewal how = {o->progress, o->progress_ctx, o->live ? &o->live->stop : NULL};
    const char *root;
    vp_file_id id;
    s->c->mirror = mirror_ref(o->mirror);
    VP_TRY(mirror_renew(o->mirror, &how, &root));
    VP_TRY(note_mirror_left_out(s->c));
    if (!mirror_find(o->mirror, "", &id)) {
        VP_TRY(set_real(s->c, root, strlen(root)));
        return cat_walk(s);
    }
    const char *slash = strrchr(root, '/');
    s->c->single = true;
    VP_TRY(set_real(s->c, root, slash == root ? 1 : (size_t)(slash - root)));
    return cat_walk_file(s, slash + 1, &id);
}

int catalog_open(catalog **out, const char *path, const cat_options *opts)
{
    static const cat_options defaults = CAT_OPTIONS_INIT;
    catalog *c VP_CLEANUP(catalog_drop) =
        catalog_new(opts && opts->mirror ? mirror_url(opts->mirror) : path);
    if (!c)
        return cat_no_memory();
    cat_scan s = {.c = c, .opts = opts ? opts : &defaults};
    c->copies = s.opts->copies;
    s.began_s = time(NULL);
    vp_map_init(&s.visited);
    int rc = s.opts->mirror           ? scan_mirror(&s)
             : s.opts->path_count > 1 ? cat_scan_given(&s)
                                      : scan_path(&s, path);
    vp_map_free(&s.visited);
    vp_free(s.links);
    VP_TRY(rc);
    VP_TRY(cat_notes_end(c));
    VP_TRY(cat_join_ranks(&s));
    VP_TRY(cat_sessions_finish(c));
    *out = c;
    c = NULL;
    return 0;
}

int catalog_none(catalog **out, const char *path)
{
    catalog *c = catalog_new(path);
    if (!c)
        return cat_no_memory();
    c->real = c->path;
    *out = c;
    return 0;
}

const char *catalog_path(const catalog *c)
{
    return c->path;
}

bool catalog_is_file(const catalog *c)
{
    return c->single;
}

bool catalog_is_elsewhere(const catalog *c)
{
    return c->mirror != NULL;
}

size_t catalog_count(const catalog *c)
{
    return c->count;
}

const cat_session *catalog_get(const catalog *c, size_t i)
{
    return i < c->count ? &c->sessions[i] : NULL;
}

size_t catalog_note_count(const catalog *c)
{
    return c->note_count;
}

const cat_note *catalog_note(const catalog *c, size_t i)
{
    return i < c->note_count ? &c->notes[i] : NULL;
}
