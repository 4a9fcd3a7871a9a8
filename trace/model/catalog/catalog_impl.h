/* What the parts of the catalog share; nobody else includes it (tests may, for the counters).
 *
 * A directory is read at once (catalog_dir), by one of several threads (catalog_ahead), each file
 * gets a kind from its name or, where that leaves it open, from its head (catalog_look), and what
 * one directory holds becomes sessions in the order of the walk (catalog_walk, catalog_group,
 * catalog_hosts, catalog_name). The members of an archive take the same road, one member directory
 * after the other (catalog_members). All strings live in the catalog's arena. */
#ifndef VP_MODEL_CATALOG_IMPL_H
#define VP_MODEL_CATALOG_IMPL_H

#include <stdatomic.h>
#include <time.h>

#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/model/catalog/catalog.h"
#include "trace/read/archive/archive.h"

/* Fails for want of memory. */
static inline int cat_no_memory(void)
{
    return vp_fail(VP_ENOMEM, "out of memory for the list of sessions");
}

/* An archive's index, shared by the catalogs that saw the same archive. */
typedef struct cat_archive {
    _Atomic uint32_t refs;
    ar_index *index;
} cat_archive;

void cat_archive_unref(cat_archive *a);

/* What looking into a file told, so that a rescan need not look again. */
typedef struct cat_memo_entry {
    vp_file_id id;
    uint64_t name_hash; /* names are hints for detection: a renamed file is looked at again */
    rd_kind kind;
    const char *why;      /* of the kind when it is not constant; in the catalog's arena */
    cat_archive *archive; /* a reference, or NULL */
} cat_memo_entry;

/* A directory of nothing but files, as it was: while its ctime stays, so do their names. */
typedef struct cat_memo_dir {
    vp_file_id id;
    struct timespec changed;
    const char *names; /* one behind the other, each with its NUL; in the catalog's arena */
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
/* Takes over the reference in e->archive only on success. */
int cat_memo_put(cat_memo *m, const cat_memo_entry *e);
const cat_memo_entry *cat_memo_get(const cat_memo *m, const vp_file_id *id, uint64_t name_hash);
int cat_memo_put_dir(cat_memo *m, const cat_memo_dir *d);
/* NULL: it is not known, or has changed. */
const cat_memo_dir *cat_memo_get_dir(const cat_memo *m, const vp_file_id *id,
                                     const struct timespec *changed);

/* What a scan saw, for the message of an empty find and for tests. */
typedef struct cat_seen {
    uint64_t files, directories, caches, unreadable, opened, listed, notes_dropped;
    const char *unreadable_path, *unreadable_why; /* the first one */
} cat_seen;

struct catalog {
    _Atomic uint32_t refs;
    vp_arena arena;
    const char *path; /* as the user gave it */
    const char *real; /* the directory that root_fd is, links resolved; or the archive's name */
    int root_fd;      /* -1 for standard input */
    int spool_fd;     /* standard input, spooled; else -1 */
    bool single;      /* the path is a file */
    cat_copies copies;
    mirror *mirror; /* NULL: the files lie here */
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
    bool single;        /* the root is one file: it is always a session */
    bool stopped;       /* a ceiling was reached and noted */
    vp_map visited;     /* directories by device and inode */
    const char **links; /* symbolic links to directories, followed after everything real */
    size_t link_count, link_cap;
    uint64_t links_ignored;
} cat_scan;

/* One file of a directory (or member directory) that is ours, before grouping. */
typedef struct cat_found {
    vp_str name;
    rd_kind kind;
    const char *why; /* overrides kind.why; in the arena */
    int64_t bytes, mtime_ns;
    vp_file_id id;
    uint32_t member_index;
    const char *cut; /* as in cat_file */
    bool by_name;    /* its kind is what its name says: nobody has looked at it */
    bool peeked;     /* kind and why are what its content says, for cat_look to keep */
} cat_found;

typedef struct cat_dir {
    vp_str full;   /* absolute path with links resolved; of members: the path in the archive */
    size_t root_n; /* how many bytes of it are the catalog's root */
    const char *archive;    /* relative path of the archive of member directories, else NULL */
    const cat_found *files; /* sorted by name */
    size_t count, caches, standby; /* standby: rings of live processes, no files of a session */
    bool has_more;                 /* subdirectories or archives: not an empty run */
} cat_dir;

/* catalog_group: adds the directory's sessions and notes to the catalog. */
int cat_group(cat_scan *s, const cat_dir *d);

/* catalog_hosts: copies the files into the session, orders them, makes hosts, status and sums. */
int cat_session_fill(cat_scan *s, cat_session *out, const cat_dir *d, const cat_found *const *files,
                     size_t n);

/* catalog_name: where a directory lies. Strings are in the arena, NULL when out of memory. */
/* a, sep and b; without sep where one of them is empty. */
const char *cat_join(cat_scan *s, vp_str a, const char *sep, vp_str b);
bool cat_is_run(const cat_dir *d);     /* below plugins/profile */
vp_str cat_relative(const cat_dir *d); /* below the root, "" for the root itself */
/* "<tb_run>/<run>" of a run, else the directory's path. */
const char *cat_dir_name(cat_scan *s, const cat_dir *d);
/* A loose file's path, in an archive as if that were a directory. */
const char *cat_stray_name(cat_scan *s, const cat_dir *d, vp_str name);
/* Relative to the root, "ARCHIVE!dir/name" for members; name may be empty: the directory. */
const char *cat_path_of(cat_scan *s, const cat_dir *d, vp_str name);
/* "worker0" and "1623143089861" of "worker0.1623143089861.pt.trace.json.gz". */
bool cat_worker_time(vp_str name, vp_str *stem, vp_str *digits, int64_t *unix_ns);
/* The id of a session with this name, unless another session's is the same. */
const char *cat_slug(catalog *c, const char *name);
/* Sorts the sessions and tells apart those of one id. */
int cat_sessions_finish(catalog *c);

/* catalog_look: what the head of the open file, whose identity is set, tells, in f->peeked, kind
 * and why; nothing where that is for cat_look to do. f->kind is what the name says. Any thread may
 * ask. */
void cat_peek(const catalog *c, int fd, bool in_run, cat_found *f);
/* The previous scan has looked at f. Any thread may ask. */
bool cat_known(const cat_scan *s, const cat_found *f);
/* Fills kind and why of f, whose name, size and identity are set. It is opened as
 * open_name beneath dir_fd, if at all. *archive is set for a readable archive and belongs to the
 * memo. Files that cannot be opened are RD_UNREADABLE; only fatal conditions fail. */
int cat_look(cat_scan *s, int dir_fd, const char *open_name, bool in_run, cat_found *f,
             const cat_archive **archive);
/* f is named like the packed JSON that XLA writes beside the xplane of its host. Where that was
 * read it decides nothing, and need not be looked at: to unpack the heads of ten thousand costs
 * more than to list all the rest. */
bool cat_is_second_half(const cat_found *f, bool in_run);
/* The name of the xplane of its host, for NAME_MAX + 1 bytes at out; false: it has none. */
bool cat_first_half(vp_str name, char *out);
/* The same for an archive's member, from the head in the index. */
int cat_look_member(const ar_member *m, cat_found *f);

/* catalog_members: the sessions of an archive at this relative path. */
int cat_members(cat_scan *s, const cat_found *file, const char *path, const cat_archive *a);

/* catalog_walk: everything below the root. */
int cat_walk(cat_scan *s);
/* The one file that the user named, whatever it is. */
int cat_walk_file(cat_scan *s, const char *name, const vp_file_id *id);

/* catalog_read: opens a regular file beneath dir_fd, or the spooled standard input. */
int cat_open_file(const catalog *c, int dir_fd, const char *name, int *fd, vp_file_id *id);

/* A note about a path; both strings are copied. */
int cat_note_add(catalog *c, const char *path, const char *why);
/* A last note on how many were too many. */
int cat_notes_end(catalog *c);
/* Counts a look at one more entry; VP_ECANCELLED when the caller wants to stop. */
int cat_tick(cat_scan *s);

#endif
