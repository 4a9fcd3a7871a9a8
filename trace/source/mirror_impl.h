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

/* An object, or a directory of its own. */
typedef struct mirror_entry {
    const char *path; /* behind the address; "": the address is the object's own */
    const char *etag; /* "": not known */
    int64_t bytes;    /* -1: a directory */
    int64_t mtime_ns;
    uint64_t ino; /* set by mirror_table_end */
} mirror_entry;

/* Sorted, with '/' before all else, so that what lies beneath a directory is one run of entries;
 * but for one that is being made. */
typedef struct mirror_table {
    vp_arena arena;
    mirror_entry *entries;
    size_t n, cap;
    vp_map by_ino; /* the objects */
    uint64_t left_out;
    char why[160]; /* of the first that was left out */
} mirror_table;

struct mirror {
    _Atomic uint32_t refs;
    source_ask ask;
    void (*drop)(void *ctx);
    source_address at;
    char cache[VP_PATH_MAX];
    char root[VP_PATH_MAX];
    uint64_t dev;
    kept kept;
    bool known, is_file;
    _Atomic bool spoiled;
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
/* The object of a path, or NULL. */
const mirror_entry *mirror_at(const mirror_table *t, vp_str path);
vp_file_id mirror_id_of(const mirror *m, const mirror_entry *e);

/* The address of an entry, which is freed by the caller; NULL: out of memory. */
char *mirror_url_of(const mirror *m, const char *path);

/* mirror_tree, under the listing's lock. A directory, also one in which nothing lies. */
int mirror_put_dir(mirror_listing *l, vp_str path);
/* An object; strings are copied. */
int mirror_put_file(mirror_listing *l, vp_str path, const source_entry *e);
/* Counts n names, and says why the first cannot be here. */
void mirror_leave_out(mirror_table *t, uint64_t n, vp_str why);
/* When all were put: sorts them, and drops what is there twice. */
int mirror_table_end(mirror_table *t);

/* A name that profiles and archives have. */
bool mirror_is_file_name(vp_str name);
/* mirror_list: everything beneath the address, by its thread and others. */
int mirror_list(mirror_listing *l);

#endif
