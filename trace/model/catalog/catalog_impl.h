/* Shared by the parts of the catalog, and by tests for its counters.
 *
 * One of several threads reads a directory completely (catalog_dir, catalog_ahead). Each file gets
 * a kind from its name, or from its first bytes if the name is not sufficient (catalog_look). The
 * content of a directory becomes runs in the order of the walk (catalog_walk, catalog_group,
 * catalog_hosts, catalog_name). Runs that are ranks of one job are joined at the end
 * (catalog_ranks, catalog_rank_names, catalog_rank_runs). Members of an archive are processed in
 * the same way, one member directory after the other (catalog_members). All strings are in the
 * catalog's arena. */
#ifndef VP_MODEL_CATALOG_IMPL_H
#define VP_MODEL_CATALOG_IMPL_H

#include <stdatomic.h>
#include <time.h>

#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/model/catalog/catalog.h"
#include "trace/read/archive/archive.h"

/* Records and returns VP_ENOMEM. */
static inline int cat_no_memory(void)
{
    return vp_fail(VP_ENOMEM, "out of memory for the list of runs");
}

/* The index of an archive, shared by the catalogs that list it. */
typedef struct cat_archive {
    _Atomic uint32_t refs;
    ar_index *index;
} cat_archive;

void cat_archive_unref(cat_archive *a);

/* Result of examining a file, reused by a rescan. */
typedef struct cat_memo_entry {
    vp_file_id id;
    uint64_t name_hash; /* names are hints for detection: a renamed file is examined again */
    rd_kind kind;
    rd_rank rank;
    const char *why;      /* of the kind, if not constant; in the catalog's arena */
    cat_archive *archive; /* a reference, or NULL */
} cat_memo_entry;

/* A directory that contained only files. While its ctime is unchanged, so are their names. */
typedef struct cat_memo_dir {
    vp_file_id id;
    struct timespec changed;
    const char *names; /* concatenated, each with its NUL; in the catalog's arena */
    size_t count;
} cat_memo_dir;

typedef struct cat_memo {
    cat_memo_entry *entries;
    cat_memo_dir *dirs;
    size_t count, cap, dir_count, dir_cap;
    vp_map by_key, by_inode;
} cat_memo;

void cat_memo_init(cat_memo *m);
void cat_memo_free(cat_memo *m);
/* Takes ownership of the reference in e->archive, only on success. */
int cat_memo_put(cat_memo *m, const cat_memo_entry *e);
const cat_memo_entry *cat_memo_get(const cat_memo *m, const vp_file_id *id, uint64_t name_hash);
int cat_memo_put_dir(cat_memo *m, const cat_memo_dir *d);
/* NULL: unknown, or changed. */
const cat_memo_dir *cat_memo_get_dir(const cat_memo *m, const vp_file_id *id,
                                     const struct timespec *changed);

/* Counts of a scan, for the message if nothing was found, and for tests. */
typedef struct cat_seen {
    uint64_t files, directories, caches, unreadable, opened, listed, notes_dropped;
    const char *unreadable_path, *unreadable_why; /* the first one */
} cat_seen;

struct catalog {
    _Atomic uint32_t refs;
    vp_arena arena;
    const char *path; /* as given by the user */
    const char *real; /* the directory of root_fd, links resolved; or the archive's name */
    int root_fd;      /* -1 for standard input */
    int spool_fd;     /* standard input, spooled; else -1 */
    bool single;      /* the path is a file, which is always a run */
    cat_copies copies;
    mirror *mirror; /* NULL: local files */
    cat_session *sessions;
    size_t count, session_cap;
    cat_note *notes;
    size_t note_count, note_cap;
    cat_memo memo;
    cat_seen seen;
};

typedef struct cat_scan {
    catalog *c;
    const cat_options *opts;
    uint64_t entries;
    int64_t began_s;    /* Unix */
    bool stopped;       /* a limit was reached and noted */
    vp_map visited;     /* directories by device and inode */
    const char **links; /* symbolic links to directories, followed last */
    size_t link_count, link_cap;
    uint64_t links_ignored;
} cat_scan;

/* A relevant file of a directory or member directory, before grouping. */
typedef struct cat_found {
    vp_str name;
    rd_kind kind;
    const char *why; /* replaces kind.why; in the arena */
    int64_t bytes, mtime_ns;
    vp_file_id id;
    uint32_t member_index;
    const char *cut; /* as in cat_file */
    bool by_name;    /* the kind is based on the name only */
    bool peeked;     /* kind, why and rank are based on the content; cat_look keeps them */
    rd_rank rank;
} cat_found;

typedef struct cat_dir {
    vp_str full;         /* absolute path with links resolved; members: the path in the archive */
    size_t root_n;       /* bytes of the path that are the catalog's root */
    const char *archive; /* relative path of the archive for member directories, else NULL */
    const cat_found *files;        /* sorted by name */
    size_t count, caches, standby; /* standby: rings of living processes, which belong to no run */
    bool has_more;                 /* has subdirectories or archives, so it is not an empty run */
} cat_dir;

/* catalog_group: adds the directory's runs and notes to the catalog. */
int cat_group(cat_scan *s, const cat_dir *d);

/* catalog_hosts: copies the files into the run, sorts them, sets hosts, status and sums. */
int cat_session_fill(cat_scan *s, cat_session *out, const cat_dir *d, const cat_found *const *files,
                     size_t n);

/* catalog_name: names and paths. Strings are in the arena; NULL when out of memory. */
/* Joins a, sep and b; without sep if a or b is empty. */
const char *cat_join(cat_scan *s, vp_str a, const char *sep, vp_str b);
bool cat_is_run(const cat_dir *d);     /* below plugins/profile */
vp_str cat_relative(const cat_dir *d); /* relative to the root; "" for the root itself */
/* "<tb_run>/<run>" of a run, else the directory's path. */
const char *cat_dir_name(cat_scan *s, const cat_dir *d);
/* Path of a loose file; an archive counts as a directory. */
const char *cat_stray_name(cat_scan *s, const cat_dir *d, vp_str name);
/* Path relative to the root, "ARCHIVE!dir/name" for members. An empty name gives the directory. */
const char *cat_path_of(cat_scan *s, const cat_dir *d, vp_str name);
/* "worker0" and "1623143089861" of "worker0.1623143089861.pt.trace.json.gz". */
bool cat_worker_time(vp_str name, vp_str *stem, vp_str *digits, int64_t *unix_ns);
/* The id of a run with this name, unless another run has the same. */
const char *cat_slug(catalog *c, const char *name);
/* Sorts the runs and makes equal ids unique. */
int cat_sessions_finish(catalog *c);

/* catalog_ranks: replaces runs that are ranks of one job by one run. */
int cat_join_ranks(cat_scan *s);

/* catalog_look: examines the first bytes of the open file, whose identity is set, and sets
 * f->peeked, kind and why; sets nothing if cat_look has to decide. f->kind is based on the name
 * before. Thread-safe. */
void cat_peek(const catalog *c, int fd, bool in_run, cat_found *f);
/* True if the previous scan examined f. Thread-safe. */
bool cat_known(const cat_scan *s, const cat_found *f);
/* Sets kind and why of f, whose name, size and identity are set. Opens it as open_name beneath
 * dir_fd if necessary. *archive is set for a readable archive and belongs to the memo. Files that
 * cannot be opened become RD_UNREADABLE; only fatal conditions fail. */
int cat_look(cat_scan *s, int dir_fd, const char *open_name, bool in_run, cat_found *f,
             const cat_archive **archive);
/* True if f is named like the packed JSON that XLA writes next to the xplane of its host. If the
 * xplane was read, this file is not needed and not examined: inflating the first bytes of ten
 * thousand files costs more than listing everything else. */
bool cat_is_second_half(const cat_found *f, bool in_run);
/* Writes the name of the xplane of its host to out (NAME_MAX + 1 bytes); false: not such a file. */
bool cat_first_half(vp_str name, char *out);
/* The same for a member, from its first bytes in the index. */
int cat_look_member(const ar_member *m, cat_found *f);

/* catalog_members: adds the runs of an archive at this relative path. */
int cat_members(cat_scan *s, const cat_found *file, const char *path, const cat_archive *a);

/* catalog_walk: lists everything below the root. */
int cat_walk(cat_scan *s);
/* Lists the one file that the user named, of any kind. */
int cat_walk_file(cat_scan *s, const char *name, const vp_file_id *id);

/* Lists the trees of these directories below the root. */
int cat_walk_dirs(cat_scan *s, const char *const *dirs, size_t n);
/* catalog_given: lists the files and trees of opts->paths; the root is the deepest directory above
 * all of them. */
int cat_scan_given(cat_scan *s);

/* catalog_read: opens a regular file beneath dir_fd, or the spooled standard input. */
int cat_open_file(const catalog *c, int dir_fd, const char *name, int *fd, vp_file_id *id);

/* Adds a note about a path; both strings are copied. */
int cat_note_add(catalog *c, const char *path, const char *why);
/* Adds a last note with the number of omitted notes. */
int cat_notes_end(catalog *c);
/* Counts one more entry; VP_ECANCELLED if the caller requested to stop. */
int cat_tick(cat_scan *s);

#endif
