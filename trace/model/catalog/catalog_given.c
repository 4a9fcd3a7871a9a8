/* Lists several paths of one command as one catalog. Files of one directory are grouped as if the
 * directory had only these. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog_impl.h"

typedef struct given {
    char *real; /* absolute, links resolved */
    vp_file_id id;
    bool is_dir;
} given;

typedef struct givens {
    given *list;
    size_t n;
    size_t root_n; /* length of the root's path */
} givens;

static void givens_free(givens *g)
{
    for (size_t i = 0; i < g->n; i++)
        vp_free(g->list[i].real);
    vp_free(g->list);
}

static int by_real_path(const void *pa, const void *pb)
{
    return strcmp(((const given *)pa)->real, ((const given *)pb)->real);
}

static int add_given(givens *g, const char *path)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    given *one = &g->list[g->n];
    char real[VP_PATH_MAX];
    VP_TRY(vp_fs_open_user(path, &fd, &one->is_dir, &one->id));
    if (!realpath(path, real)) {
        vp_fail(VP_EIO, "cannot resolve the path: %s", strerror(errno));
        return vp_fail_at(VP_EIO, path, -1, -1);
    }
    one->real = vp_strdup(real);
    VP_NEED(one->real);
    g->n++;
    return 0;
}

/* A path that is given twice is listed once. */
static void drop_equal_paths(givens *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->n; i++)
        if (kept && !strcmp(g->list[kept - 1].real, g->list[i].real))
            vp_free(g->list[i].real);
        else
            g->list[kept++] = g->list[i];
    g->n = kept;
}

static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash > path ? (size_t)(slash - path) : 1;
}

/* The length of the deepest directory above all paths; a directory is above itself. */
static size_t common_length(const givens *g)
{
    const char *first = g->list[0].real;
    size_t n = g->list[0].is_dir ? strlen(first) : directory_length(first);
    for (size_t i = 1; i < g->n; i++) {
        const char *path = g->list[i].real;
        while (n > 1 && (strncmp(first, path, n) != 0 ||
                         (path[n] != '/' && !(path[n] == 0 && g->list[i].is_dir)))) {
            n--;
            while (n > 1 && first[n] != '/')
                n--;
        }
    }
    return n;
}

static const char *below_root(const givens *g, size_t i)
{
    const char *rest = g->list[i].real + g->root_n;
    return *rest == '/' ? rest + 1 : rest;
}

/* ---- Files ---- */

typedef struct given_dir {
    cat_scan *scan;
    cat_dir dir;
    cat_found *found;
} given_dir;

static int look_at_given(given_dir *d, const char *rel, const vp_file_id *id)
{
    cat_scan *s = d->scan;
    const cat_archive *archive = NULL;
    cat_found f = {.name = vp_str_of(vp_path_name(rel)),
                   .bytes = id->size,
                   .mtime_ns = id->mtime_ns,
                   .id = *id};
    s->c->seen.files++;
    VP_TRY(cat_look(s, s->c->root_fd, rel, cat_is_run(&d->dir), &f, &archive));
    if (archive)
        return cat_members(s, &f, rel, archive);
    if (f.kind.format == RD_CACHE) {
        f.kind.format = RD_UNREADABLE;
        f.why = f.kind.why;
    }
    if (f.kind.format == RD_UNKNOWN)
        return cat_note_add(s->c, rel, "not a profile");
    d->found[d->dir.count++] = f;
    return 0;
}

/* Groups the files list[first..end), which are in one directory. */
static int group_given(cat_scan *s, const givens *g, size_t first, size_t end)
{
    VP_CLEANUP(vp_free_ptr) cat_found *found = vp_calloc(end - first, sizeof *found);
    VP_NEED(found);
    const char *path = g->list[first].real;
    size_t root_n = g->root_n > 1 ? g->root_n : 0; /* as in a walk: "/" ends no path */
    size_t dir_n = directory_length(path);
    given_dir d = {.scan = s,
                   .dir = {.full = {path, dir_n}, .root_n = root_n, .files = found},
                   .found = found};
    for (size_t i = first; i < end; i++) {
        VP_TRY(cat_tick(s));
        VP_TRY(look_at_given(&d, below_root(g, i), &g->list[i].id));
    }
    return cat_group(s, &d.dir);
}

static bool in_one_directory(const char *a, const char *b)
{
    size_t n = directory_length(a);
    return n == directory_length(b) && !strncmp(a, b, n);
}

static int list_given_files(cat_scan *s, const givens *g)
{
    for (size_t first = 0, end; first < g->n; first = end) {
        end = first + 1;
        if (g->list[first].is_dir)
            continue;
        while (end < g->n && !g->list[end].is_dir &&
               in_one_directory(g->list[first].real, g->list[end].real))
            end++;
        VP_TRY(group_given(s, g, first, end));
    }
    return 0;
}

/* ---- Directories ---- */

static bool is_inside(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return !strncmp(path, dir, n) && (path[n] == '/' || !path[n]);
}

/* Removes what is inside a directory that was given, too: it is listed with that. */
static void drop_inner_paths(givens *g)
{
    size_t kept = 0, dir = SIZE_MAX;
    for (size_t i = 0; i < g->n; i++) {
        if (dir != SIZE_MAX && is_inside(g->list[i].real, g->list[dir].real)) {
            vp_free(g->list[i].real);
            continue;
        }
        g->list[kept] = g->list[i];
        if (g->list[kept].is_dir)
            dir = kept;
        kept++;
    }
    g->n = kept;
}

static int list_given_dirs(cat_scan *s, const givens *g)
{
    size_t n = 0;
    VP_CLEANUP(vp_free_ptr) const char **dirs = vp_calloc(g->n, sizeof *dirs);
    VP_NEED(dirs);
    for (size_t i = 0; i < g->n; i++)
        if (g->list[i].is_dir)
            dirs[n++] = below_root(g, i);
    if (n == 1 && !*dirs[0])
        return cat_walk(s);
    return n ? cat_walk_dirs(s, dirs, n) : 0;
}

int cat_scan_given(cat_scan *s)
{
    VP_CLEANUP(givens_free) givens g = {.list = vp_calloc(s->opts->path_count, sizeof *g.list)};
    bool is_dir;
    VP_NEED(g.list);
    for (size_t i = 0; i < s->opts->path_count; i++)
        VP_TRY(add_given(&g, s->opts->paths[i]));
    qsort(g.list, g.n, sizeof *g.list, by_real_path);
    drop_equal_paths(&g);
    drop_inner_paths(&g);
    g.root_n = common_length(&g);
    s->c->path = s->c->real = vp_arena_strndup(&s->c->arena, g.list[0].real, g.root_n);
    VP_NEED(s->c->real);
    VP_TRY(vp_fs_open_user(s->c->real, &s->c->root_fd, &is_dir, NULL));
    VP_TRY(list_given_files(s, &g));
    return list_given_dirs(s, &g);
}
