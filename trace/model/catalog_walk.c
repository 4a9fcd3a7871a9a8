/* Everything below the root, one directory at a time and without recursion: a directory is read
 * whole and sorted (so that the order of the disk never shows), its files become sessions, then its
 * subdirectories follow. Dotfiles are ignored, devices and FIFOs never opened. Symbolic links are
 * followed after everything real, so that what lies in the tree keeps its own path. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/image/vpcap_hold.h"
#include "trace/model/catalog_impl.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)

typedef struct entry {
    size_t name; /* offset in names */
    unsigned char type;
} entry;

/* A directory whose subdirectories are still to come. The buffers are reused by its siblings. */
typedef struct frame {
    int fd;
    char *names;
    size_t names_n, names_cap;
    entry *entries;
    size_t count, cap, next; /* next: the first entry that may be a subdirectory to enter */
    size_t full_n;           /* length of its path in walk.full */
} frame;

typedef struct walk {
    cat_scan *scan;
    char full[VP_PATH_MAX]; /* absolute path of the current directory */
    size_t root_n;
    frame frames[VP_WALK_DEPTH_MAX + 1];
    size_t depth; /* frames in use */
    _Alignas(struct dirent64) char listing[32768];
    cat_found *found;
    size_t found_n, found_cap;
    vp_map found_ids; /* by inode; filled only in directories with links */
} walk;

static const char *name_of(const frame *f, const entry *e)
{
    return f->names + e->name;
}

static const char *relative(const walk *w)
{
    const char *rel = w->full + w->root_n;
    return *rel == '/' ? rel + 1 : rel;
}

static int note_errno(walk *w, const char *name, const char *what)
{
    char path[VP_PATH_MAX * 2], why[128];
    const char *rel = relative(w);
    snprintf(why, sizeof why, "%s: %s", what, strerror(errno));
    snprintf(path, sizeof path, "%s%s%s", rel, *rel && *name ? "/" : "", name);
    return cat_note_add(w->scan->c, *path ? path : ".", why);
}

static int note_limit(walk *w, const char *name, const char *why)
{
    char path[VP_PATH_MAX * 2];
    const char *rel = relative(w);
    snprintf(path, sizeof path, "%s%s%s", rel, *rel ? "/" : "", name);
    return cat_note_add(w->scan->c, path, why);
}

static int add_entry(frame *f, const struct dirent64 *e)
{
    size_t n = strlen(e->d_name) + 1;
    VP_TRY(vp_grow(&f->names, &f->names_cap, f->names_n + n, 1, SIZE_MAX / 2));
    VP_TRY(vp_grow(&f->entries, &f->cap, f->count + 1, sizeof *f->entries, VP_WALK_ENTRIES_MAX));
    memcpy(f->names + f->names_n, e->d_name, n);
    f->entries[f->count++] = (entry){f->names_n, e->d_type};
    f->names_n += n;
    return 0;
}

static int by_name(const void *pa, const void *pb, void *names)
{
    const entry *a = pa, *b = pb;
    const char *base = names;
    return strcmp(base + a->name, base + b->name);
}

/* What one call told of the directory. */
static int take_entries(walk *w, frame *f, size_t n)
{
    for (size_t at = 0; at < n && !w->scan->stopped;) {
        const struct dirent64 *e = (const struct dirent64 *)(const void *)(w->listing + at);
        at += e->d_reclen;
        if (e->d_name[0] == '.')
            continue;
        VP_TRY(cat_tick(w->scan));
        VP_TRY(add_entry(f, e));
    }
    return 0;
}

/* Without opendir, which asks three questions more of every directory. */
static int read_entries(walk *w, frame *f)
{
    ssize_t n = 0;
    f->names_n = f->count = f->next = 0;
    while (!w->scan->stopped && (n = getdents64(f->fd, w->listing, sizeof w->listing)) > 0)
        VP_TRY(take_entries(w, f, (size_t)n));
    if (n < 0)
        VP_TRY(note_errno(w, "", "cannot read the directory to its end"));
    if (f->count)
        qsort_r(f->entries, f->count, sizeof *f->entries, by_name, f->names);
    return 0;
}

static cat_found found_of(const char *name, const vp_file_id *id)
{
    return (cat_found){
        .name = vp_str_of(name), .bytes = id->size, .mtime_ns = id->mtime_ns, .id = *id};
}

static int keep(walk *w, const cat_found *f, const cat_archive *archive, cat_dir *d)
{
    char path[VP_PATH_MAX * 2];
    const char *rel = relative(w);
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

/* Names that decide the kind are not opened, so their permission is asked for: most modes let
 * everybody read, which needs no question. */
static bool forbidden(int dir_fd, const char *name, const struct stat *st)
{
    return (st->st_mode & 0444) != 0444 && faccessat(dir_fd, name, R_OK, AT_EACCESS) < 0;
}

static bool stands_by(int dir_fd, const char *name)
{
    VP_CLEANUP(vp_fs_close)
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 && vpcap_is_held(fd);
}

static int take_file(walk *w, frame *f, const entry *e, cat_dir *d)
{
    const char *name = name_of(f, e);
    rd_kind by_name = rd_detect_name(vp_str_of(name));
    const cat_archive *archive;
    struct stat st;
    w->scan->c->seen.files++;
    if (by_name.format == RD_CACHE) {
        d->caches++;
        return 0;
    }
    if (fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : note_errno(w, name, "cannot stat");
    if (!S_ISREG(st.st_mode))
        return 0;
    if (by_name.format == RD_VPCAP && stands_by(f->fd, name)) {
        d->standby++;
        return 0;
    }
    vp_file_id id = vp_fs_id(&st);
    cat_found found = found_of(name, &id);
    if (forbidden(f->fd, name, &st)) {
        found.kind.format = RD_UNREADABLE;
        found.why = "cannot read: permission denied";
        return keep(w, &found, NULL, d);
    }
    found.kind = by_name;
    found.by_name = cat_is_second_half(&found, cat_is_run(d));
    if (found.by_name)
        return keep(w, &found, NULL, d);
    VP_TRY(cat_look(w->scan, f->fd, name, cat_is_run(d), &found, &archive));
    return keep(w, &found, archive, d);
}

static int by_found_name(const void *pa, const void *pb)
{
    const cat_found *a = pa, *b = pb;
    return strcmp(a->name.p, b->name.p);
}

/* The xplane of the same host has been looked at and is one. */
static bool has_first_half(const walk *w, const cat_found *f)
{
    char name[NAME_MAX + 1];
    vp_str host = rd_host_of(f->name);
    int n = snprintf(name, sizeof name, "%.*s.xplane.pb", VP_STR_ARG(host));
    cat_found key = {.name = vp_str_of(name)};
    if (!host.n || (size_t)n >= sizeof name)
        return false;
    const cat_found *first = bsearch(&key, w->found, w->found_n, sizeof *w->found, by_found_name);
    return first && first->kind.format == RD_XSPACE;
}

static int look_at_the_rest(walk *w, frame *f, cat_dir *d)
{
    size_t n = w->found_n, rest = 0;
    for (size_t i = 0; i < n; i++) {
        cat_found *one = &w->found[i];
        one->by_name = one->by_name && !has_first_half(w, one);
        rest += one->by_name;
    }
    if (rest)
        w->found_n = 0; /* each is kept again, or not */
    for (size_t i = 0; rest && i < n; i++) {
        cat_found one = w->found[i];
        const cat_archive *archive = NULL;
        if (one.by_name)
            VP_TRY(cat_look(w->scan, f->fd, one.name.p, cat_is_run(d), &one, &archive));
        VP_TRY(keep(w, &one, archive, d));
    }
    return 0;
}

static uint64_t inode_key(const vp_file_id *id)
{
    return id->ino ^ vp_mix(id->dev);
}

/* A link to a file that the directory holds anyway would be the same host twice. */
static int remember_found(walk *w)
{
    vp_map_free(&w->found_ids);
    vp_map_init(&w->found_ids);
    for (size_t i = 0; i < w->found_n; i++)
        VP_TRY(vp_map_set(&w->found_ids, inode_key(&w->found[i].id), 0));
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

static int take_link(walk *w, frame *f, const entry *e, cat_dir *d)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    char path[VP_PATH_MAX * 2];
    const char *rel = relative(w), *name = name_of(f, e);
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
    if (vp_map_get(&w->found_ids, inode_key(&id)) != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_map_set(&w->found_ids, inode_key(&id), 0));
    cat_found found = found_of(name, &id);
    VP_TRY(cat_look(w->scan, w->scan->c->root_fd, path, cat_is_run(d), &found, &archive));
    return keep(w, &found, archive, d);
}

/* Kinds that the file system does not tell are asked for once. */
static unsigned char type_of(const frame *f, const entry *e)
{
    struct stat st;
    if (e->type != DT_UNKNOWN)
        return e->type;
    if (fstatat(f->fd, name_of(f, e), &st, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_UNKNOWN;
    return S_ISREG(st.st_mode)   ? DT_REG
           : S_ISDIR(st.st_mode) ? DT_DIR
           : S_ISLNK(st.st_mode) ? DT_LNK
                                 : DT_FIFO;
}

/* Files first, then links to files, which must not displace what is really there. */
static int take_files(walk *w, frame *f)
{
    cat_dir d = {.full = {w->full, f->full_n}, .root_n = w->root_n};
    bool links = false;
    w->found_n = 0;
    for (size_t i = 0; i < f->count; i++) {
        entry *e = &f->entries[i];
        e->type = type_of(f, e);
        links |= e->type == DT_LNK;
        d.has_more |= e->type == DT_DIR || e->type == DT_LNK;
        if (e->type == DT_REG)
            VP_TRY(take_file(w, f, e, &d));
    }
    VP_TRY(look_at_the_rest(w, f, &d));
    if (links)
        VP_TRY(remember_found(w));
    for (size_t i = 0; links && i < f->count; i++)
        if (f->entries[i].type == DT_LNK)
            VP_TRY(take_link(w, f, &f->entries[i], &d));
    if (links && w->found_n)
        qsort(w->found, w->found_n, sizeof *w->found, by_found_name);
    d.files = w->found;
    d.count = w->found_n;
    w->scan->c->seen.caches += d.caches;
    return cat_group(w->scan, &d);
}

/* Enters the open directory whose path is in w->full; takes the descriptor. A directory that was
 * seen before (a link, a loop, a bind mount) is left at once. */
static int enter(walk *w, int fd, size_t full_n)
{
    VP_CLEANUP(vp_fs_close) int owned = fd;
    frame *f = &w->frames[w->depth];
    struct stat st;
    if (fstat(fd, &st) < 0)
        return note_errno(w, "", "cannot stat");
    uint64_t key = inode_key(&(vp_file_id){.dev = st.st_dev, .ino = st.st_ino});
    if (vp_map_get(&w->scan->visited, key) != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_map_set(&w->scan->visited, key, 0));
    f->fd = vp_fs_take(&owned);
    f->full_n = full_n;
    w->depth++;
    w->scan->c->seen.directories++;
    if (w->scan->opts->entering)
        w->scan->opts->entering(w->scan->opts->entering_ctx, *w->full ? w->full : "/");
    VP_TRY(read_entries(w, f));
    return take_files(w, f);
}

static void leave(walk *w)
{
    frame *f = &w->frames[--w->depth];
    close(f->fd);
    w->full[w->depth ? w->frames[w->depth - 1].full_n : w->root_n] = 0;
}

static int descend(walk *w, frame *f, const char *name)
{
    size_t n = strlen(name);
    if (w->depth > VP_WALK_DEPTH_MAX)
        return note_limit(w, name, "not entered: nested deeper than any log directory");
    if (f->full_n + n + 2 > sizeof w->full)
        return note_limit(w, name, "not entered: the path is too long");
    int fd = openat(f->fd, name, DIR_FLAGS | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? 0 : note_errno(w, name, "cannot open the directory");
    w->full[f->full_n] = '/';
    memcpy(w->full + f->full_n + 1, name, n + 1);
    size_t depth = w->depth;
    VP_TRY(enter(w, fd, f->full_n + 1 + n));
    if (w->depth == depth)
        w->full[f->full_n] = 0;
    return 0;
}

static int walk_tree(walk *w, int fd)
{
    VP_TRY(enter(w, fd, strlen(w->full)));
    while (w->depth) {
        frame *f = &w->frames[w->depth - 1];
        while (f->next < f->count && f->entries[f->next].type != DT_DIR)
            f->next++;
        if (f->next == f->count || w->scan->stopped)
            leave(w);
        else
            VP_TRY(descend(w, f, name_of(f, &f->entries[f->next++])));
    }
    return 0;
}

static int walk_link(walk *w, const char *path)
{
    int fd;
    bool is_dir;
    int n = snprintf(w->full + w->root_n, sizeof w->full - w->root_n, "/%s", path);
    if (n < 0 || (size_t)n >= sizeof w->full - w->root_n)
        return cat_note_add(w->scan->c, path, "not entered: the path is too long");
    if (vp_fs_open_beneath(w->scan->c->root_fd, path, &fd, &is_dir, NULL) < 0)
        return cat_note_add(w->scan->c, path, vp_error_last()->message);
    return walk_tree(w, fd);
}

static int walk_all(walk *w)
{
    cat_scan *s = w->scan;
    int fd = openat(s->c->root_fd, ".", DIR_FLAGS);
    if (fd < 0)
        return note_errno(w, "", "cannot open the directory");
    VP_TRY(walk_tree(w, fd));
    for (size_t i = 0; i < s->link_count && !s->stopped; i++)
        VP_TRY(walk_link(w, s->links[i]));
    return 0;
}

static walk *walk_new(cat_scan *s)
{
    walk *w = vp_calloc(1, sizeof *w);
    size_t n = strlen(s->c->real);
    if (!w)
        return NULL;
    w->scan = s;
    vp_map_init(&w->found_ids);
    if (n > 1 || *s->c->real != '/') /* "/" itself is the empty prefix */
        memcpy(w->full, s->c->real, n);
    w->root_n = strlen(w->full);
    return w;
}

static void walk_free(walk *w)
{
    while (w->depth)
        leave(w);
    for (size_t i = 0; i <= VP_WALK_DEPTH_MAX; i++) {
        vp_free(w->frames[i].names);
        vp_free(w->frames[i].entries);
    }
    vp_map_free(&w->found_ids);
    vp_free(w->found);
    vp_free(w);
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

int cat_walk_file(cat_scan *s, const char *name, const vp_file_id *id)
{
    cat_dir d = {.full = vp_str_of(s->c->real), .root_n = strlen(s->c->real)};
    cat_found f = found_of(name, id);
    const cat_archive *archive;
    s->c->seen.files++;
    VP_TRY(cat_look(s, s->c->root_fd, name, false, &f, &archive));
    if (archive)
        return cat_members(s, &f, name, archive);
    if (f.kind.format == RD_CACHE) { /* named on purpose: then it is refused by name */
        f.kind.format = RD_UNREADABLE;
        f.why = f.kind.why;
    }
    if (f.kind.format == RD_UNKNOWN)
        return 0;
    d.files = &f;
    d.count = 1;
    return cat_group(s, &d);
}
