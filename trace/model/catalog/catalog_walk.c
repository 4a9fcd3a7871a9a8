/* Walks everything below the root, one directory at a time and without recursion: a directory's
 * files become runs, then its subdirectories follow. Dotfiles are ignored; devices and FIFOs are
 * never opened. Symbolic links are followed last, so that files in the tree keep their own path. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog_ahead.h"

/* A directory with subdirectories left to visit. */
typedef struct frame {
    cat_node *node;
    size_t next;   /* index of the next entry that may be a subdirectory */
    size_t full_n; /* length of its path in walk.full */
} frame;

typedef struct walk {
    cat_scan *scan;
    cat_ahead *ahead;
    char full[VP_PATH_MAX]; /* absolute path of the current directory */
    size_t root_n;
    cat_node root; /* of the current walk: the catalog's, or a link's */
    frame frames[VP_WALK_DEPTH_MAX + 1];
    size_t depth; /* number of frames in use */
    cat_found *found;
    size_t found_n, found_cap;
    vp_map found_ids; /* by inode; filled only in directories with links */
} walk;

static const char *frame_entry_name(const frame *f, const cat_entry *e)
{
    return f->node->names + e->name;
}

static const char *walk_relative_path(const walk *w)
{
    const char *rel = w->full + w->root_n;
    return *rel == '/' ? rel + 1 : rel;
}

static int note_errno(walk *w, const char *name, const char *what)
{
    char path[VP_PATH_MAX * 2], why[128];
    const char *rel = walk_relative_path(w);
    snprintf(why, sizeof why, "%s: %s", what, strerror(errno));
    snprintf(path, sizeof path, "%s%s%s", rel, *rel && *name ? "/" : "", name);
    return cat_note_add(w->scan->c, *path ? path : ".", why);
}

static int note_limit(walk *w, const char *name, const char *why)
{
    char path[VP_PATH_MAX * 2];
    const char *rel = walk_relative_path(w);
    snprintf(path, sizeof path, "%s%s%s", rel, *rel ? "/" : "", name);
    return cat_note_add(w->scan->c, path, why);
}

/* After the limit of a scan, entries are neither counted nor examined. */
static int count_entries(walk *w, cat_node *n)
{
    size_t counted = 0;
    while (counted < n->count && !w->scan->stopped) {
        VP_TRY(cat_tick(w->scan));
        counted++;
    }
    if (counted == n->count)
        return 0;
    const char *end = n->names; /* end of the counted names, which are in disk order */
    while (counted--)
        end += strlen(end) + 1;
    for (size_t i = 0; i < n->count; i++)
        if (n->names + n->entries[i].name >= end)
            n->entries[i].type = 0;
    return 0;
}

static cat_found found_of(const char *name, const vp_file_id *id)
{
    return (cat_found){
        .name = vp_str_of(name), .bytes = id->size, .mtime_ns = id->mtime_ns, .id = *id};
}

static int walk_keep_found(walk *w, const cat_found *f, const cat_archive *archive, cat_dir *d)
{
    char path[VP_PATH_MAX * 2];
    const char *rel = walk_relative_path(w);
    if (f->kind.format == RD_CACHE) {
        d->caches++;
        return 0;
    }
    if (f->kind.format == RD_UNKNOWN)
        return 0;
    if (archive) {
        d->has_more = true;
        snprintf(path, sizeof path, "%s%s%s", rel, *rel ? "/" : "", f->name.p);
        return cat_members(w->scan, f, path, archive);
    }
    VP_TRY(
        vp_grow(&w->found, &w->found_cap, w->found_n + 1, sizeof *w->found, VP_WALK_ENTRIES_MAX));
    w->found[w->found_n++] = *f;
    return 0;
}

/* Reopens the closed directory only if the file must be opened. */
static int walk_look_at_file(walk *w, const frame *f, cat_found *found, const cat_dir *d,
                             const cat_archive **archive)
{
    bool here = !w->scan->c->mirror && !found->peeked && !cat_known(w->scan, found);
    int fd = here ? cat_dir_fd(f->node) : -1;
    return cat_look(w->scan, fd, found->name.p, cat_is_run(d), found, archive);
}

static int take_file(walk *w, const frame *f, const cat_entry *e, cat_dir *d)
{
    const cat_archive *archive = NULL;
    w->scan->c->seen.files++;
    cat_found *found = &f->node->found[e->at];
    switch ((cat_told)e->told) {
    case CAT_GONE:
        return 0;
    case CAT_IGNORED:
        d->caches++;
        return 0;
    case CAT_STANDBY:
        d->standby++;
        return 0;
    case CAT_NO_STAT:
        errno = e->error;
        return note_errno(w, frame_entry_name(f, e), "cannot stat");
    case CAT_KEPT:
        break;
    case CAT_LOOKED:
        VP_TRY(walk_look_at_file(w, f, found, d, &archive));
    }
    return walk_keep_found(w, found, archive, d);
}

static int by_found_name(const void *pa, const void *pb)
{
    const cat_found *a = pa, *b = pb;
    return strcmp(a->name.p, b->name.p);
}

/* True if the xplane of the same host was examined and is valid. */
static bool walk_has_first_half(const walk *w, const cat_found *f)
{
    char name[NAME_MAX + 1];
    if (!cat_first_half(f->name, name))
        return false;
    cat_found key = {.name = vp_str_of(name)};
    const cat_found *first = bsearch(&key, w->found, w->found_n, sizeof *w->found, by_found_name);
    return first && first->kind.format == RD_XSPACE;
}

static int look_at_the_rest(walk *w, const frame *f, cat_dir *d)
{
    size_t n = w->found_n, rest = 0;
    for (size_t i = 0; i < n; i++) {
        cat_found *one = &w->found[i];
        one->by_name = one->by_name && !walk_has_first_half(w, one);
        rest += one->by_name;
    }
    if (rest)
        w->found_n = 0; /* each is examined again and may be dropped */
    for (size_t i = 0; rest && i < n; i++) {
        cat_found one = w->found[i];
        const cat_archive *archive = NULL;
        if (one.by_name)
            VP_TRY(walk_look_at_file(w, f, &one, d, &archive));
        VP_TRY(walk_keep_found(w, &one, archive, d));
    }
    return 0;
}

static uint64_t walk_inode_key(const vp_file_id *id)
{
    return id->ino ^ vp_mix(id->dev);
}

/* A link to a file in the same directory would list the host twice. */
static int remember_found(walk *w)
{
    vp_map_free(&w->found_ids);
    vp_map_init(&w->found_ids);
    for (size_t i = 0; i < w->found_n; i++)
        VP_TRY(vp_map_set(&w->found_ids, walk_inode_key(&w->found[i].id), 0));
    return 0;
}

static int defer_link(cat_scan *s, const char *path)
{
    const char *copy = vp_arena_strndup(&s->c->arena, path, strlen(path));
    if (!copy)
        return vp_fail(VP_ENOMEM, "out of memory for symbolic links");
    VP_TRY(
        vp_grow(&s->links, &s->link_cap, s->link_count + 1, sizeof *s->links, VP_WALK_ENTRIES_MAX));
    s->links[s->link_count++] = copy;
    return 0;
}

static int walk_take_link(walk *w, const frame *f, const cat_entry *e, cat_dir *d)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    char path[VP_PATH_MAX * 2];
    const char *rel = walk_relative_path(w), *name = frame_entry_name(f, e);
    const cat_archive *archive;
    vp_file_id id;
    bool is_dir;
    if (!w->scan->opts->follow_symlinks) {
        w->scan->links_ignored++;
        return 0;
    }
    snprintf(path, sizeof path, "%s%s%s", rel, *rel ? "/" : "", name);
    if (vp_fs_open_beneath(w->scan->c->root_fd, path, &fd, &is_dir, &id) < 0)
        return cat_note_add(w->scan->c, path, vp_error_last()->message);
    if (is_dir)
        return defer_link(w->scan, path);
    w->scan->c->seen.files++;
    if (vp_map_get(&w->found_ids, walk_inode_key(&id)) != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_map_set(&w->found_ids, walk_inode_key(&id), 0));
    cat_found found = found_of(name, &id);
    VP_TRY(cat_look(w->scan, w->scan->c->root_fd, path, cat_is_run(d), &found, &archive));
    return walk_keep_found(w, &found, archive, d);
}

/* Takes files first, then links to files, which must not replace real files. */
static int walk_take_files(walk *w, const frame *f)
{
    const cat_node *n = f->node;
    cat_dir d = {.full = {w->full, f->full_n}, .root_n = w->root_n};
    bool links = false;
    w->found_n = 0;
    for (size_t i = 0; i < n->count; i++) {
        unsigned char type = n->entries[i].type;
        links |= type == DT_LNK;
        d.has_more |= type == DT_DIR || type == DT_LNK;
        if (type == DT_REG)
            VP_TRY(take_file(w, f, &n->entries[i], &d));
    }
    VP_TRY(look_at_the_rest(w, f, &d));
    if (links)
        VP_TRY(remember_found(w));
    for (size_t i = 0; links && i < n->count; i++)
        if (n->entries[i].type == DT_LNK)
            VP_TRY(walk_take_link(w, f, &n->entries[i], &d));
    if (links && w->found_n)
        qsort(w->found, w->found_n, sizeof *w->found, by_found_name);
    d.files = w->found;
    d.count = w->found_n;
    w->scan->c->seen.caches += d.caches;
    return cat_group(w->scan, &d);
}

/* *again: the directory was visited before (a link, a loop, a bind mount) and is skipped. */
static int walk_visit_dir(walk *w, const vp_file_id *id, bool *again)
{
    uint64_t key = walk_inode_key(id);
    *again = vp_map_get(&w->scan->visited, key) != VP_MAP_NONE;
    return *again ? 0 : vp_map_set(&w->scan->visited, key, 0);
}

/* A change later than this many seconds after the last one gets another ctime on every file system:
 * FAT has a resolution of two seconds. */
#define CTIME_S 2

/* Stores the directory for the next scan if it contains only files. */
static int remember_dir(walk *w, const cat_node *n)
{
    const cat_scan *s = w->scan;
    if (s->opts->last || !n->parent || n->cut || n->found_count != n->count ||
        n->changed.tv_sec + CTIME_S >= s->began_s)
        return 0;
    cat_memo_dir d = {n->id, n->changed, vp_arena_strndup(&s->c->arena, n->names, n->names_n),
                      n->count};
    VP_NEED(d.names);
    return cat_memo_put_dir(&s->c->memo, &d);
}

/* Enters the directory, which has been read and whose path is in w->full. */
static int walk_enter_dir(walk *w, cat_node *n, size_t full_n)
{
    frame *f = &w->frames[w->depth++];
    *f = (frame){.node = n, .full_n = full_n};
    w->scan->c->seen.directories++;
    w->scan->c->seen.listed += n->listed;
    VP_TRY(remember_dir(w, n));
    VP_TRY(count_entries(w, n));
    if (n->cut) {
        errno = n->cut;
        VP_TRY(note_errno(w, "", "cannot read the whole directory"));
    }
    return walk_take_files(w, f);
}

static void walk_leave_dir(walk *w)
{
    cat_ahead_drop(w->ahead, w->frames[--w->depth].node);
    w->full[w->depth ? w->frames[w->depth - 1].full_n : w->root_n] = 0;
}

/* Enters a directory that has been read, unless that failed or it was visited before. */
static int enter_read(walk *w, const frame *f, cat_node *n)
{
    bool again = false;
    if (n->failed && (n->no_stat || n->failed != ENOENT)) {
        errno = n->failed;
        VP_TRY(note_errno(w, n->name, n->no_stat ? "cannot stat" : "cannot open the directory"));
    }
    if (!n->failed)
        VP_TRY(walk_visit_dir(w, &n->id, &again));
    if (n->failed || again) {
        cat_ahead_drop(w->ahead, n);
        return 0;
    }
    size_t m = strlen(n->name);
    w->full[f->full_n] = '/';
    memcpy(w->full + f->full_n + 1, n->name, m + 1);
    return walk_enter_dir(w, n, f->full_n + 1 + m);
}

static int walk_descend(walk *w, const frame *f, cat_node *n)
{
    if (w->depth > VP_WALK_DEPTH_MAX)
        return note_limit(w, n->name, "skipped: nested too deep");
    if (f->full_n + strlen(n->name) + 2 > sizeof w->full)
        return note_limit(w, n->name, "skipped: the path is too long");
    VP_TRY(cat_ahead_get(w->ahead, n));
    return enter_read(w, f, n);
}

/* Walks the tree of a root at this path below the catalog's; takes ownership of fd. */
static int walk_tree(walk *w, const char *path, int fd, const vp_file_id *id)
{
    bool again = false;
    w->root = (cat_node){.name = path, .fd = fd, .id = *id};
    VP_TRY(walk_visit_dir(w, id, &again));
    if (again) {
        cat_ahead_drop(w->ahead, &w->root);
        return 0;
    }
    VP_TRY(cat_ahead_get(w->ahead, &w->root));
    VP_TRY(walk_enter_dir(w, &w->root, strlen(w->full)));
    while (w->depth) {
        frame *f = &w->frames[w->depth - 1];
        const cat_node *n = f->node;
        while (f->next < n->count && n->entries[f->next].type != DT_DIR)
            f->next++;
        if (f->next == n->count || w->scan->stopped)
            walk_leave_dir(w);
        else
            VP_TRY(walk_descend(w, f, &n->children[n->entries[f->next++].at]));
    }
    return 0;
}

static int walk_link(walk *w, const char *path)
{
    int fd;
    bool is_dir;
    vp_file_id id;
    int n = snprintf(w->full + w->root_n, sizeof w->full - w->root_n, "/%s", path);
    if (n < 0 || (size_t)n >= sizeof w->full - w->root_n)
        return cat_note_add(w->scan->c, path, "skipped: the path is too long");
    if (vp_fs_open_beneath(w->scan->c->root_fd, path, &fd, &is_dir, &id) < 0)
        return cat_note_add(w->scan->c, path, vp_error_last()->message);
    return walk_tree(w, path, fd, &id);
}

static int walk_given(walk *w, const char *const *dirs, size_t n)
{
    for (size_t i = 0; i < n && !w->scan->stopped; i++)
        VP_TRY(walk_link(w, dirs[i]));
    return 0;
}

static int walk_all(walk *w)
{
    cat_scan *s = w->scan;
    vp_file_id id = {0};
    if (s->c->mirror)
        return walk_tree(w, "", -1, &id);
    int fd = openat(s->c->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return note_errno(w, "", "cannot open the directory");
    if (vp_fs_identity(fd, &id) < 0) {
        close(fd);
        return note_errno(w, "", "cannot stat");
    }
    VP_TRY(walk_tree(w, "", fd, &id));
    for (size_t i = 0; i < s->link_count && !s->stopped; i++)
        VP_TRY(walk_link(w, s->links[i]));
    return 0;
}

static void walk_free(walk *w)
{
    if (w->ahead) {
        cat_ahead_stop(w->ahead);
        cat_ahead_drop(w->ahead, &w->root); /* after a failure, everything not released yet */
        cat_ahead_free(w->ahead);
    }
    vp_map_free(&w->found_ids);
    vp_free(w->found);
    vp_free(w);
}

static walk *walk_new(cat_scan *s)
{
    walk *w = vp_calloc(1, sizeof *w);
    size_t n = strlen(s->c->real);
    if (!w)
        return NULL;
    w->scan = s;
    w->root.fd = -1;
    vp_map_init(&w->found_ids);
    if (n > 1 || *s->c->real != '/') /* for "/" the prefix is empty */
        memcpy(w->full, s->c->real, n);
    w->root_n = strlen(w->full);
    if (cat_ahead_new(&w->ahead, s) < 0) {
        walk_free(w);
        return NULL;
    }
    return w;
}

int cat_walk(cat_scan *s)
{
    walk *w = walk_new(s);
    if (!w)
        return vp_fail(VP_ENOMEM, "out of memory for the walk");
    int rc = walk_all(w);
    walk_free(w);
    return rc;
}

int cat_walk_dirs(cat_scan *s, const char *const *dirs, size_t n)
{
    walk *w = walk_new(s);
    if (!w)
        return vp_fail(VP_ENOMEM, "out of memory for the walk");
    int rc = walk_given(w, dirs, n);
    for (size_t i = 0; rc >= 0 && i < s->link_count && !s->stopped; i++)
        rc = walk_link(w, s->links[i]);
    walk_free(w);
    return rc;
}

int cat_walk_file(cat_scan *s, const char *name, const vp_file_id *id)
{
    cat_dir d = {.full = vp_str_of(s->c->real), .root_n = strlen(s->c->real)};
    cat_found f = found_of(name, id);
    const cat_archive *archive;
    s->c->seen.files++;
    VP_TRY(cat_look(s, s->c->root_fd, name, false, &f, &archive));
    if (archive)
        return cat_members(s, &f, name, archive);
    if (f.kind.format == RD_CACHE) { /* a cache file named explicitly is refused with its reason */
        f.kind.format = RD_UNREADABLE;
        f.why = f.kind.why;
    }
    if (f.kind.format == RD_UNKNOWN)
        return 0;
    d.files = &f;
    d.count = 1;
    return cat_group(s, &d);
}
