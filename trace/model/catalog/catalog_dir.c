/* One directory: its entries, sorted independently of disk order, and the kinds of its files. All
 * system calls for it are here, and each is made once: on a network file system each takes a
 * millisecond. */
#include "trace/model/catalog/catalog_ahead.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/vpcap/vpcap_hold.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
/* Bytes of one getdents buffer: 3,000 entries. */
#define LISTING (128u << 10)

/* The buffers are reused for all directories. */
struct cat_reader {
    const cat_scan *scan;
    char *names;
    cat_entry *entries;
    size_t names_n, names_cap, count, cap, most;
    bool whole; /* entries beyond `most` are not needed, which is not a failure */
    char *path; /* absolute path of the directory: the end of full */
    char full[VP_PATH_MAX];
    _Alignas(struct dirent64) char listing[LISTING];
};

int cat_reader_new(cat_reader **out, const cat_scan *s)
{
    *out = vp_malloc(sizeof **out);
    VP_NEED(*out);
    (*out)->scan = s;
    (*out)->names = NULL;
    (*out)->entries = NULL;
    (*out)->names_cap = (*out)->cap = 0;
    return 0;
}

void cat_reader_free(cat_reader *r)
{
    if (!r)
        return;
    vp_free(r->names);
    vp_free(r->entries);
    vp_free(r);
}

/* ---- Path ---- */

/* Writes the path from its end on. */
static int put_node_path(cat_reader *r, const cat_node *n)
{
    const char *part = r->scan->c->real;
    size_t root = strcmp(part, "/") ? strlen(part) : 0, m;
    r->path = r->full + sizeof r->full - 1;
    *r->path = 0;
    for (; n; n = n->parent)
        if ((m = strlen(n->name))) {
            if (root + m + 1 > (size_t)(r->path - r->full))
                return vp_fail(VP_ELIMIT, "the path is too long");
            r->path = memcpy(r->path - m, n->name, m);
            *--r->path = '/';
        }
    r->path = memcpy(r->path - root, part, root);
    return 0;
}

int cat_dir_fd(cat_node *n)
{
    if (n->fd < 0)
        n->fd = openat(n->parent->fd, n->name, DIR_FLAGS);
    return n->fd;
}

static void set_dir(cat_node *n, const struct stat *st)
{
    n->id = vp_fs_id(st);
    n->changed = st->st_ctim;
}

static bool open_node_dir(cat_node *n)
{
    struct stat st;
    if (n->fd >= 0)
        return true;
    n->no_stat = cat_dir_fd(n) >= 0;
    if (!n->no_stat || fstat(n->fd, &st) < 0) {
        n->failed = errno;
        return false;
    }
    set_dir(n, &st);
    return true;
}

/* The directory as the previous scan read it; NULL: it must be read. */
static const cat_memo_dir *known_dir(const cat_reader *r, cat_node *n)
{
    const catalog *previous = r->scan->opts->previous;
    struct stat st;
    if (!previous || n->fd >= 0 || fstatat(n->parent->fd, n->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL;
    set_dir(n, &st);
    return cat_memo_get_dir(&previous->memo, &n->id, &n->changed);
}

/* ---- Entries ---- */

static int reader_add_entry(cat_reader *r, const char *name, unsigned char type)
{
    size_t n = strlen(name) + 1;
    VP_TRY(vp_grow(&r->names, &r->names_cap, r->names_n + n, 1, UINT32_MAX));
    VP_TRY(vp_grow(&r->entries, &r->cap, r->count + 1, sizeof *r->entries, r->most));
    memcpy(r->names + r->names_n, name, n);
    r->entries[r->count++] = (cat_entry){.name = (uint32_t)r->names_n, .type = type};
    r->names_n += n;
    return 0;
}

static int by_entry_name(const void *pa, const void *pb, void *names)
{
    const cat_entry *a = pa, *b = pb;
    const char *base = names;
    return strcmp(base + a->name, base + b->name);
}

/* Reads entries without opendir, which makes three more system calls per directory. One entry more
 * than the limit of a scan is enough to stop it. ext4 and others return the maximum offset at the
 * end of a directory; then the final, empty call is skipped. */
static int read_entries(cat_reader *r, cat_node *n, bool ahead)
{
    ssize_t got = 0;
    int64_t next = 0;
    while (next != INT64_MAX && (ahead || r->count < r->most) &&
           (got = syscall(SYS_getdents64, n->fd, r->listing, sizeof r->listing)) > 0)
        for (ssize_t at = 0; at < got && (ahead || r->count < r->most);) {
            const struct dirent64 *e = (const struct dirent64 *)(const void *)(r->listing + at);
            at += e->d_reclen;
            next = e->d_off;
            if (e->d_name[0] != '.')
                VP_TRY(reader_add_entry(r, e->d_name, e->d_type));
        }
    n->cut = got < 0 ? errno : 0;
    return 0;
}

static int recall_entries(cat_reader *r, const cat_memo_dir *d)
{
    const char *name = d->names;
    for (size_t i = 0; i < d->count; i++, name += strlen(name) + 1)
        VP_TRY(reader_add_entry(r, name, DT_REG));
    return 0;
}

static int on_remote_entry(void *ctx, vp_str name, bool is_dir)
{
    cat_reader *r = ctx;
    char z[VP_MEMBER_NAME_MAX + 1];
    if (r->whole && r->count == r->most)
        return 1;
    memcpy(z, name.p, name.n);
    z[name.n] = 0;
    return reader_add_entry(r, z, is_dir ? DT_DIR : DT_REG);
}

/* Path of a remote directory, or of a file in it. */
static const char *remote_path_below_root(const cat_reader *r)
{
    const char *path = r->path + strlen(r->scan->c->real);
    return *path == '/' ? path + 1 : path;
}

/* A missing remote directory is not remembered, because it has no time of change. */
static int list_elsewhere(cat_reader *r, cat_node *n, bool ahead)
{
    n->id = (vp_file_id){.ino = vp_hash(r->path, strlen(r->path), 0)};
    n->changed.tv_sec = r->scan->began_s;
    n->cut = 0;
    r->whole = !ahead;
    return mirror_each(r->scan->c->mirror, remote_path_below_root(r), on_remote_entry, r);
}

/* Entry types that the file system does not provide are queried once. */
static unsigned char entry_type_by_stat(int fd, const char *name)
{
    struct stat st;
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_UNKNOWN;
    return (unsigned char)IFTODT(st.st_mode);
}

static void number_entries(cat_reader *r, cat_node *n)
{
    if (r->count)
        qsort_r(r->entries, r->count, sizeof *r->entries, by_entry_name, r->names);
    n->child_count = n->found_count = 0;
    for (size_t i = 0; i < r->count; i++) {
        cat_entry *e = &r->entries[i];
        if (e->type == DT_UNKNOWN)
            e->type = entry_type_by_stat(n->fd, r->names + e->name);
        if (e->type == DT_REG)
            e->at = (uint32_t)n->found_count++;
        else if (e->type == DT_DIR)
            e->at = (uint32_t)n->child_count++;
    }
}

static int pack_node(const cat_reader *r, cat_node *n)
{
    size_t children = n->child_count * sizeof *n->children,
           found = n->found_count * sizeof *n->found, entries = r->count * sizeof *n->entries;
    char *p = vp_malloc(children + found + entries + r->names_n + 1);
    VP_NEED(p);
    n->block = p;
    n->children = (void *)p;
    n->found = (void *)(p += children);
    n->entries = (void *)(p += found);
    n->names = p + entries;
    n->names_n = r->names_n;
    n->count = r->count;
    if (r->count) {
        memcpy(n->entries, r->entries, entries);
        memcpy(n->names, r->names, r->names_n);
    }
    for (size_t i = 0; i < n->count; i++)
        if (n->entries[i].type == DT_DIR)
            n->children[n->entries[i].at] = (cat_node){.parent = n,
                                                       .name = n->names + n->entries[i].name,
                                                       .depth = n->depth + 1,
                                                       .fd = -1};
    return 0;
}

/* ---- Files ---- */

/* Files whose name decides the kind are not opened, so their permission is tested: most modes are
 * readable by all, which needs no system call. */
static bool is_forbidden_file(cat_node *n, const char *name, const struct stat *st)
{
    return (st->st_mode & 0444) != 0444 && faccessat(cat_dir_fd(n), name, R_OK, AT_EACCESS) < 0;
}

/* Avoids opening the directory if it is known from the previous scan. */
static int stat_file(const cat_node *n, vp_str name, struct stat *st)
{
    char path[2 * NAME_MAX + 3];
    if (n->fd >= 0)
        return fstatat(n->fd, name.p, st, AT_SYMLINK_NOFOLLOW);
    snprintf(path, sizeof path, "%s/%s", n->name, name.p);
    return fstatat(n->parent->fd, path, st, AT_SYMLINK_NOFOLLOW);
}

static bool stands_by(int dir_fd, const char *name)
{
    VP_CLEANUP(vp_fs_close)
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 && vpcap_is_held(fd);
}

typedef struct wanted {
    const char *names, *name;
} wanted;

static int by_wanted(const void *pw, const void *pe)
{
    const wanted *w = pw;
    const cat_entry *e = pe;
    return strcmp(w->name, w->names + e->name);
}

/* True if the directory contains a file with the name of the same host's xplane. */
static bool node_has_first_half(const cat_node *n, vp_str name)
{
    char first[NAME_MAX + 1];
    wanted w = {n->names, first};
    return cat_first_half(name, first) &&
           bsearch(&w, n->entries, n->count, sizeof *n->entries, by_wanted);
}

static void set_found_id(cat_found *f, vp_file_id id)
{
    f->id = id;
    f->bytes = id.size;
    f->mtime_ns = id.mtime_ns;
}

static void peek_file(const cat_reader *r, cat_node *n, bool in_run, cat_found *f)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    vp_file_id id;
    if (r->scan->c->mirror) { /* accessed by identity */
        cat_peek(r->scan->c, -1, in_run, f);
        return;
    }
    if (cat_open_file(r->scan->c, cat_dir_fd(n), f->name.p, &fd, &id) == 0) {
        set_found_id(f, id);
        cat_peek(r->scan->c, fd, in_run, f);
    }
}

static cat_told look_at_content(const cat_reader *r, cat_node *n, bool in_run, cat_found *f)
{
    f->by_name = cat_is_second_half(f, in_run);
    if (!(f->by_name && node_has_first_half(n, f->name)) && !cat_known(r->scan, f))
        peek_file(r, n, in_run, f);
    f->by_name = f->by_name && !f->peeked;
    return f->by_name ? CAT_KEPT : CAT_LOOKED;
}

static cat_told look_at_stat(const cat_reader *r, cat_node *n, bool in_run, cat_found *f,
                             const struct stat *st)
{
    if (!S_ISREG(st->st_mode))
        return CAT_GONE;
    if (f->kind.format == RD_VPCAP && stands_by(cat_dir_fd(n), f->name.p))
        return CAT_STANDBY;
    set_found_id(f, vp_fs_id(st));
    if (is_forbidden_file(n, f->name.p, st)) {
        f->kind = (rd_kind){.format = RD_UNREADABLE};
        f->why = "permission denied";
        return CAT_KEPT;
    }
    return look_at_content(r, n, in_run, f);
}

/* Remote files have no permissions, and no local process writes to them. */
static cat_told look_at_remote_file(const cat_reader *r, cat_node *n, bool in_run, cat_found *f)
{
    char path[2 * VP_PATH_MAX];
    const char *dir = remote_path_below_root(r);
    vp_file_id id;
    snprintf(path, sizeof path, "%s%s%s", dir, *dir ? "/" : "", f->name.p);
    if (!mirror_find(r->scan->c->mirror, path, &id))
        return CAT_GONE;
    set_found_id(f, id);
    return look_at_content(r, n, in_run, f);
}

/* A file that was opened here is not opened again. */
static cat_told look_at_file(const cat_reader *r, cat_node *n, bool in_run, cat_found *f,
                             int *error)
{
    struct stat st;
    f->kind = rd_detect_name(f->name);
    if (f->kind.format == RD_CACHE)
        return CAT_IGNORED;
    if (r->scan->c->mirror)
        return look_at_remote_file(r, n, in_run, f);
    bool second = in_run && rd_formats[f->kind.format].role == RD_SECOND_HALF;
    if (!r->scan->opts->previous && !second && f->kind.format != RD_VPCAP)
        peek_file(r, n, in_run, f);
    if (f->peeked)
        return CAT_LOOKED;
    if (stat_file(n, f->name, &st) == 0)
        return look_at_stat(r, n, in_run, f, &st);
    *error = errno;
    return errno == ENOENT ? CAT_GONE : CAT_NO_STAT;
}

static int look_at_files(const cat_reader *r, cat_node *n, const _Atomic bool *stop)
{
    const cat_dir d = {.full = vp_str_of(r->path)};
    bool in_run = cat_is_run(&d);
    for (size_t i = 0; i < n->count; i++) {
        cat_entry *e = &n->entries[i];
        if (e->type != DT_REG)
            continue;
        if (stop && atomic_load_explicit(stop, memory_order_relaxed))
            return VP_ECANCELLED; /* not reported to the user */
        n->found[e->at] = (cat_found){.name = vp_str_of(n->names + e->name)};
        e->told = (unsigned char)look_at_file(r, n, in_run, &n->found[e->at], &e->error);
    }
    return 0;
}

/* ---- The directory ---- */

void cat_node_clear(cat_node *n)
{
    vp_fs_close(&n->fd);
    vp_free(n->block);
    n->block = NULL;
    n->count = n->child_count = n->found_count = 0;
}

/* One call at a time, from any thread. */
static void say_entering(const cat_reader *r)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const cat_options *o = r->scan->opts;
    if (!o->entering)
        return;
    pthread_mutex_lock(&lock);
    o->entering(o->entering_ctx, *r->path ? r->path : "/");
    pthread_mutex_unlock(&lock);
}

int cat_read_dir(cat_reader *r, cat_node *n, const _Atomic bool *stop)
{
    VP_TRY(put_node_path(r, n));
    bool here = !r->scan->c->mirror;
    const cat_memo_dir *known = here ? known_dir(r, n) : NULL;
    n->listed = !known;
    if (here && !known && !open_node_dir(n))
        return 0;
    say_entering(r);
    r->names_n = r->count = 0;
    r->most = stop ? VP_WALK_AHEAD_MAX / 4 : VP_WALK_ENTRIES_MAX + 1;
    VP_TRY(known ? recall_entries(r, known)
                 : (here ? read_entries : list_elsewhere)(r, n, stop != NULL));
    number_entries(r, n);
    VP_TRY(pack_node(r, n));
    VP_TRY(look_at_files(r, n, stop));
    if (n->parent && !n->child_count)
        vp_fs_close(&n->fd); /* descriptors are limited */
    return 0;
}
