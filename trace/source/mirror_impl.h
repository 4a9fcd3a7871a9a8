/* What the parts of a mirror share; only trace/source includes it. */
#ifndef VP_SOURCE_MIRROR_IMPL_H
#define VP_SOURCE_MIRROR_IMPL_H

#include <pthread.h>

#include "trace/base/arena.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/thread.h"
#include "trace/source/address.h"
#include "trace/source/kept.h"
#include "trace/source/mirror.h"

#define MIRROR_ETAG 256u

/* An object, and its file in the tree. */
typedef struct mirror_entry {
    const char *path; /* behind the address; "": the address is the object's own */
    const char *etag; /* "": not known */
    int64_t bytes, mtime_ns;
    uint64_t ino;
} mirror_entry;

typedef struct mirror_table {
    vp_arena arena;
    mirror_entry *entries;
    size_t n, cap;
    vp_map by_ino, by_path; /* by hashes of paths */
    vp_map dirs;            /* hashes of the directories that there are */
} mirror_table;

struct mirror {
    _Atomic uint32_t refs;
    source_ask ask;
    void (*drop)(void *ctx);
    source_address at;
    char cache[VP_PATH_MAX];
    char tree[VP_PATH_MAX], file[VP_PATH_MAX]; /* of a directory, or a file, at that address */
    char root[VP_PATH_MAX];
    int lock_fd; /* held exclusively by whoever renews the tree */
    kept kept;
    bool known, is_file;
    int64_t renewed_ms, took_ms; /* 0: never */
    pthread_mutex_t lock;        /* of what follows */
    mirror_table *table;
};

typedef struct mirror_task {
    const char *path;
    bool head; /* else a list */
} mirror_task;

/* One renewal, by several threads. */
typedef struct mirror_listing {
    mirror *m;
    const mirror_renewal *how;
    const mirror_table *old; /* NULL: the first of this program */
    mirror_table *table;
    int root;                         /* the directory of the tree */
    bool fresh;                       /* it was made now */
    char dir[VP_MEMBER_NAME_MAX + 1]; /* the one that dir_fd is, if >= 0 */
    int dir_fd;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    mirror_task *tasks;
    size_t task_n, task_cap, task_next, running, idle;
    vp_aside threads[3];
    size_t thread_n;
    uint64_t entries;
    bool full; /* VP_WALK_ENTRIES_MAX were seen */
    int rc;
    vp_error error;
} mirror_listing;

mirror_table *mirror_table_new(void);
void mirror_table_free(mirror_table *t);
static inline uint64_t mirror_key(vp_str path)
{
    return vp_hash(path.p, path.n, 0);
}
/* The entry of a path, or NULL. */
const mirror_entry *mirror_at(const mirror_table *t, vp_str path);

/* The address of an entry, which is freed by the caller; NULL: out of memory. */
char *mirror_url_of(const mirror *m, const char *path);

/* mirror_tree: under the listing's lock. */
/* A directory that is there. */
int mirror_put_dir(mirror_listing *l, vp_str path);
/* An object; strings are copied. `name` is that of its file in the tree. */
int mirror_put_file(mirror_listing *l, vp_str path, vp_str name, const source_entry *e);
/* Removes what was not put. */
int mirror_sweep(mirror_listing *l);
/* Makes path, absolute, and those above it from byte `from` on; *made: it was not there. */
int mirror_make_dirs(const char *path, size_t from, bool *made);

/* A name that profiles and archives have. */
bool mirror_is_file_name(vp_str name);
/* mirror_list: everything beneath the address, by its thread and others. */
int mirror_list(mirror_listing *l);

#endif
