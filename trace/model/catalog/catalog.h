/* What lies in a profile directory: sessions, newest first, with their hosts and files. Found by
 * content at any level (log directory, plugins/profile, one run, one file, an archive, "-"),
 * without reading more than heads. The directory is never written to. The server, the CLI and the
 * C API include this; a catalog is immutable once made and may be read by many threads; a rescan
 * makes a new one and opens only what changed.
 *
 * What is sent of a file while it is read is looked at again at its end (catalog_check): a file
 * that changed meanwhile ends its answer as a broken one, which is not kept. */
#ifndef VP_MODEL_CATALOG_H
#define VP_MODEL_CATALOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/base/fs.h"
#include "trace/base/log.h"
#include "trace/read/bytes/byte_stream.h"
#include "trace/read/detect/detect.h"
#include "trace/source/mirror.h"

typedef struct cat_file {
    const char *path;     /* relative to the root; a member is ARCHIVE!member */
    const char *name;     /* base name */
    const char *location; /* relative path of the file on disk (the archive for a member) */
    bool is_member;
    uint32_t member_index; /* in the archive */
    rd_kind kind;
    int64_t bytes;    /* on disk; of a member: unpacked, -1 unknown */
    int64_t mtime_ns; /* Unix; the archive's for members without one */
    vp_file_id id;    /* of the file on disk */
    uint32_t host;    /* index into hosts, UINT32_MAX for files of no host */
    const char *why;  /* NULL, or why it is unreadable */
    const char *cut;  /* of a member of an archive that is damaged or cut off: how; or NULL. Other
                         files of its run may be missing, and other runs */
} cat_file;

typedef struct cat_host {
    const char *name;   /* file stem; the session's name where files have none */
    uint32_t primary;   /* index into files: the xplane where there is one, else the JSON */
    uint32_t secondary; /* the other half, or UINT32_MAX */
} cat_host;

typedef enum cat_status { CAT_OK, CAT_UNREADABLE, CAT_UNFINISHED, CAT_EMPTY } cat_status;

typedef struct cat_session {
    const char *id; /* URL-safe [A-Za-z0-9._~-]+, unique in the catalog, stable over rescans */
    /* "<tb_run>/<run>" as TensorBoard shows it; of a PyTorch capture "<directory>/<time>" with the
     * digits of its first worker's file; of a stray file its path; an archive is a directory. */
    const char *name;
    const char *path; /* relative to the root; "." for the root itself */
    const char *kind; /* "xla", "kineto", "chrome", "memory": of its first readable file, "none" */
    /* From the run's name (local time) or a loose file's, else the newest file's mtime, which is
     * that of a copy, a download or an unpacking: a report, which has read the profile, prefers
     * what that says of its own time. */
    int64_t captured_unix_ns;
    bool time_from_name;
    bool stray; /* a loose file, or a directory outside plugins/profile without a time in its name:
                 * never the latest if others exist */
    int64_t newest_mtime_ns;
    int64_t bytes; /* of all its files on disk or unpacked */
    cat_status status;
    const char *why; /* for status != ok */
    cat_host *hosts;
    size_t host_count;
    cat_file *files; /* readable timelines first, then memory, then unreadable; no caches */
    size_t file_count;
} cat_session;

typedef struct catalog catalog;
/* What a scan tells another thread while it runs. Zero it before. */
typedef struct cat_live {
    _Atomic uint64_t entries, sessions; /* looked at, found so far */
    _Atomic bool stop;                  /* set by the other thread: VP_ECANCELLED soon */
} cat_live;

/* Where unpacked copies of packed files may lie. open: a descriptor on the content of f, which is
 * an archive's member or gzip, or VP_ENOTFOUND; called from many threads. */
typedef struct cat_copies {
    int (*open)(void *ctx, const cat_file *f, int *fd);
    void *ctx; /* outlives the catalog */
} cat_copies;

typedef struct cat_options {
    bool follow_symlinks;     /* default true: inside the root, once */
    vp_progress_fn *progress; /* entries seen, -1 */
    void *progress_ctx;
    const catalog *previous; /* unchanged files are not opened again; may be NULL */
    bool last;               /* it will be nobody's `previous`, and keeps nothing for one */
    cat_live *live;          /* may be NULL */
    /* Called with the absolute path of each directory before it is read, by any thread, one at a
     * time; may be NULL. */
    void (*entering)(void *ctx, const char *path);
    void *entering_ctx;
    cat_copies copies; /* read instead of what is packed; open may be NULL */
    int jobs;          /* threads that list at most; 0: as many as are of use */
    mirror *mirror;    /* of the address that the path is; the catalog keeps a reference. NULL: the
                          path lies here */
} cat_options;
#define CAT_OPTIONS_INIT                                                                           \
    {                                                                                              \
        .follow_symlinks = true                                                                    \
    }

/* Scans. path is a directory, a file, an archive, or "-" (standard input, spooled). VP_ENOTFOUND
 * when there is no such path; a catalog without sessions is not an error here. */
int catalog_open(catalog **out, const char *path, const cat_options *opts);
/* A catalog of path without sessions: what is known before the first scan. */
int catalog_none(catalog **out, const char *path);
void catalog_free(catalog *c);
/* Takes another reference (threads that outlive a rescan); catalog_free drops one. */
catalog *catalog_ref(catalog *c);

const char *catalog_path(const catalog *c); /* as the user gave it */
size_t catalog_count(const catalog *c);
/* Sorted: newest first, stray files last. Owned by the catalog. */
const cat_session *catalog_get(const catalog *c, size_t i);
/* By id, or by a name, path or unique suffix of it; NULL (error recorded, with candidates). */
const cat_session *catalog_find(const catalog *c, vp_str key);
/* By id alone, which never searches; NULL without such a session, nothing recorded. */
const cat_session *catalog_by_id(const catalog *c, const char *id);
/* A session's host; NULL: it has none of that name, nothing recorded. */
const cat_host *catalog_host(const cat_session *s, vp_str name);
/* It can be opened: its hosts have timelines, of a recording that was cut off, too; or memory. */
static inline bool catalog_can_open(const cat_session *s)
{
    return s->status == CAT_OK || (s->status == CAT_UNFINISHED && s->host_count);
}
/* The latest readable session, a finished one if there is any, or NULL (VP_ENOTFOUND recorded: what
 * was looked for and found). */
const cat_session *catalog_latest(const catalog *c);
/* Whether a run newer than s may be there that cannot be read: one that is listed as unreadable
 * (where names tell the times of both), or, of a catalog that is one archive, one in the part of it
 * that is missing. 0, or a recorded failure that says which
 * (VP_ECORRUPT, VP_EUNSUPPORTED); who was asked for "the latest" must not answer with s then. */
int catalog_check_latest(const catalog *c, const cat_session *s);
/* No file of any kind lies in it. */
bool catalog_is_bare(const catalog *c);
/* Recognised files outside sessions that are not readable, and refused archive members. */
typedef struct cat_note {
    const char *path, *why;
} cat_note;
size_t catalog_note_count(const catalog *c);
const cat_note *catalog_note(const catalog *c, size_t i);

/* The file's bytes as they are (raw) or with its own gzip layer removed and verified. */
int catalog_stream(rd_stream **out, const catalog *c, const cat_file *f, bool raw);
/* Random access to the content (gzip and archives are spooled; damage is reported). */
int catalog_source(rd_source **out, const catalog *c, const cat_file *f, vp_error *damage);
/* The path was that of a file, or standard input. */
bool catalog_is_file(const catalog *c);
/* Its files lie elsewhere, so that a descriptor is a copy: a stream or source reads them. */
bool catalog_is_elsewhere(const catalog *c);
/* A descriptor on the file on disk, verified to be the one listed (VP_EIO if it changed);
 * members are VP_EUNSUPPORTED: use catalog_stream. */
int catalog_fd(int *fd, const catalog *c, const cat_file *f);
/* 0 while the file, of a member its archive, is the one that was listed; else VP_EIO, VP_ENOTFOUND.
 * Who has read it asks: what changed meanwhile was read half old and half new. */
int catalog_check(const catalog *c, const cat_file *f);

#endif
