/* Lists the content of a profile directory: runs, newest first, with their hosts and files. Runs
 * are found by content at any level (log directory, plugins/profile, one run, one file, an archive,
 * "-"), reading only the first bytes of files. The directory is never written to. A catalog is
 * immutable once made, and many threads may read it; it owns all strings and lists. A rescan makes
 * a new catalog and opens only what has changed. Failures: VP_ENOTFOUND, VP_EIO, VP_ENOMEM,
 * VP_ECANCELLED.
 *
 * A file that is sent while it is read is checked again at its end (catalog_check): if it changed
 * meanwhile, the response ends as a broken one and is not cached. */
#ifndef VP_MODEL_CATALOG_H
#define VP_MODEL_CATALOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/base/fs.h"
#include "trace/base/log.h"
#include "trace/read/bytes/byte_stream.h"
#include "trace/read/detect/detect.h"
#include "trace/read/detect/rank_info.h"
#include "trace/source/mirror.h"

typedef struct cat_file {
    const char *path;     /* relative to the root; for a member ARCHIVE!member */
    const char *name;     /* base name */
    const char *location; /* relative path of the file on disk (for a member, of the archive) */
    bool is_member;
    uint32_t member_index; /* in the archive */
    rd_kind kind;
    int64_t bytes;    /* on disk; member: unpacked, -1 unknown */
    int64_t mtime_ns; /* Unix; the archive's for members without one */
    vp_file_id id;    /* of the file on disk */
    uint32_t host;    /* index into hosts; UINT32_MAX: of no host */
    const char *why;  /* NULL, or the reason why it is unreadable */
    /* Member of a damaged or truncated archive: the damage, else NULL. Other files of its run, and
     * other runs, may be missing. */
    const char *cut;
    /* As stated by the file. In a run of several ranks, a missing rank is that of its name. */
    rd_rank rank;
} cat_file;

typedef struct cat_host {
    const char *name;   /* stem of the file's name; the run's name if files have none */
    uint32_t primary;   /* index into files: the xplane if there is one, else the JSON */
    uint32_t secondary; /* the other half, or UINT32_MAX */
} cat_host;

typedef enum cat_status { CAT_OK, CAT_UNREADABLE, CAT_UNFINISHED, CAT_EMPTY } cat_status;

typedef struct cat_session {
    const char *id; /* URL-safe [A-Za-z0-9._~-]+, unique in the catalog, stable over rescans */
    /* "<tb_run>/<run>" as TensorBoard shows it. A PyTorch capture is "<directory>/<time>", with the
     * digits of its first worker's file. A stray file has its path; several ranks have their common
     * path with N for a rank's number. An archive counts as a directory. */
    const char *name;
    const char *path; /* relative to the root; "." for the root itself */
    const char *kind; /* "xla", "kineto", "chrome", "memory": of the first readable file; "none" */
    /* Time in the run's name (local time) or in a loose file's, else mtime of the newest file. The
     * mtime is that of a copy, a download or an extraction; a report prefers the time stated in the
     * profile. */
    int64_t captured_unix_ns;
    bool time_from_name;
    /* A loose file, or a directory outside plugins/profile without a time in its name. Never the
     * latest run if there are others. */
    bool stray;
    int64_t newest_mtime_ns;
    int64_t bytes; /* of all its files, on disk or unpacked */
    cat_status status;
    const char *why; /* reason, if status is not CAT_OK */
    uint32_t world;  /* number of ranks of the job, if its files state it; 0: unknown */
    cat_host *hosts;
    size_t host_count;
    cat_file *files; /* readable timelines first, then memory, then unreadable files; no caches */
    size_t file_count;
} cat_session;

typedef struct catalog catalog;
/* Progress of a scan, readable by another thread. Initialize to zero. */
typedef struct cat_live {
    _Atomic uint64_t entries, sessions; /* examined and found so far */
    _Atomic bool stop; /* set by the other thread; the scan soon fails with VP_ECANCELLED */
} cat_live;

/* Provides unpacked copies of packed files. open: returns a descriptor of the content of f, an
 * archive's member or a gzip file, or VP_ENOTFOUND; called by many threads. */
typedef struct cat_copies {
    int (*open)(void *ctx, const cat_file *f, int *fd);
    void *ctx; /* must outlive the catalog */
} cat_copies;

typedef struct cat_options {
    bool follow_symlinks;  /* default true: within the root, each target once */
    bool keep_ranks_apart; /* lists every rank of a job as a run */
    /* Several paths instead of the one of catalog_open: NULL, or path_count local ones. */
    const char *const *paths;
    size_t path_count;
    vp_progress_fn *progress; /* called with the entries so far, and -1 */
    void *progress_ctx;
    const catalog *previous; /* a catalog whose unchanged files are not opened again; may be NULL */
    bool last;               /* it is not used as `previous` later, so it keeps no data for that */
    cat_live *live;          /* may be NULL */
    /* Called with the absolute path of each directory before it is read, by any thread, one at a
     * time. May be NULL. */
    void (*entering)(void *ctx, const char *path);
    void *entering_ctx;
    cat_copies copies; /* read instead of packed files; open may be NULL */
    int jobs;          /* maximum of listing threads; 0: as many as useful */
    /* Mirror of the remote address that the path is; the catalog takes a reference. NULL: local
     * path. */
    mirror *mirror;
} cat_options;
#define CAT_OPTIONS_INIT                                                                           \
    {                                                                                              \
        .follow_symlinks = true                                                                    \
    }

/* Scans path: a directory, a file, an archive, or "-" (standard input, spooled). VP_ENOTFOUND: no
 * such path. A catalog without runs is not an error. */
int catalog_open(catalog **out, const char *path, const cat_options *opts);
/* Makes a catalog of path without runs, for use before the first scan. */
int catalog_none(catalog **out, const char *path);
void catalog_free(catalog *c);
/* Takes another reference, for threads that outlive a rescan; catalog_free releases one. */
catalog *catalog_ref(catalog *c);

const char *catalog_path(const catalog *c); /* as given by the user */
size_t catalog_count(const catalog *c);
/* Sorted: newest first, stray files last. Owned by the catalog. */
const cat_session *catalog_get(const catalog *c, size_t i);
/* Finds a run by id, name, path, or a unique suffix of these. NULL: not found; the recorded error
 * has candidates. */
const cat_session *catalog_find(const catalog *c, vp_str key);
/* Finds a run by id only. NULL: not found; no error is recorded. */
const cat_session *catalog_by_id(const catalog *c, const char *id);
/* Finds a host of a run. NULL: not found; no error is recorded. */
const cat_host *catalog_host(const cat_session *s, vp_str name);
/* True if the run can be opened: it has memory profiles, or hosts with timelines, possibly of an
 * interrupted recording. */
static inline bool catalog_can_open(const cat_session *s)
{
    return s->status == CAT_OK || (s->status == CAT_UNFINISHED && s->host_count);
}
/* The latest readable run, a finished one if possible. NULL: VP_ENOTFOUND recorded, with what was
 * searched and found. */
const cat_session *catalog_latest(const catalog *c);
/* Fails if a run newer than s may exist that cannot be read: one that is listed as unreadable (if
 * both names contain times), or, in a catalog of one archive, one in its missing part. 0, or a
 * recorded failure with the reason (VP_ECORRUPT, VP_EUNSUPPORTED); then s must not be presented as
 * "the latest". */
int catalog_check_latest(const catalog *c, const cat_session *s);
/* True if it contains no file of any kind. */
bool catalog_is_bare(const catalog *c);
/* Recognized files outside of runs that are not readable, and refused archive members. */
typedef struct cat_note {
    const char *path, *why;
} cat_note;
size_t catalog_note_count(const catalog *c);
const cat_note *catalog_note(const catalog *c, size_t i);

/* Opens the file's bytes, unchanged (raw) or with its own gzip layer inflated and verified. */
int catalog_stream(rd_stream **out, const catalog *c, const cat_file *f, bool raw);
/* Opens the content for random access; gzip and archives are spooled, and damage is reported. */
int catalog_source(rd_source **out, const catalog *c, const cat_file *f, vp_error *damage);
/* Describes why two runs are not joined: "other world size: 8 and 4". The text is in `out`. */
const char *catalog_why_apart(const cat_session *a, const cat_session *b, char *out, size_t cap);
/* True if the path is a file or standard input. */
bool catalog_is_file(const catalog *c);
/* True for remote files: a descriptor needs a copy, so use a stream or a source. */
bool catalog_is_elsewhere(const catalog *c);
/* Opens a descriptor of the file on disk, verified to be the listed one (VP_EIO if it changed).
 * VP_EUNSUPPORTED for members: use catalog_stream. */
int catalog_fd(int *fd, const catalog *c, const cat_file *f);
/* 0 if the file (of a member: its archive) is still the listed one; else VP_EIO, VP_ENOTFOUND. Call
 * after reading it: a changed file was read half old and half new. */
int catalog_check(const catalog *c, const cat_file *f);

#endif
