/* Shared by the parts of a mirror. Private to trace/source. A mirror owns its table; a listing
 * builds a new one and replaces it at the end. */
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

/* An object or a directory. */
typedef struct mirror_entry {
    const char *path; /* relative to the address; "": the address is the object */
    const char *etag; /* "": unknown */
    int64_t bytes;    /* -1: a directory */
    int64_t mtime_ns;
    uint64_t ino; /* set by mirror_table_end */
} mirror_entry;

/* Sorted, with '/' before all other characters, so that the content of a directory is one range of
 * entries; unsorted while being built. */
typedef struct mirror_table {
    vp_arena arena;
    mirror_entry *entries;
    size_t n, cap;
    vp_map by_ino; /* the objects */
    uint64_t left_out;
    char why[160]; /* reason for the first omitted name */
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
    int64_t renewed_ms, took_ms; /* monotonic ms; 0: never */
    pthread_mutex_t lock;        /* guards the members below */
    mirror_table *table;
};

typedef struct mirror_task {
    const char *path;
    bool head; /* else a listing */
} mirror_task;

/* One renewal by several threads. */
typedef struct mirror_listing {
    mirror *m;
    const mirror_renewal *how;
    const mirror_table *old; /* NULL: first listing of this process */
    mirror_table *table;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    mirror_task *tasks;
    size_t task_n, task_cap, task_next, running, idle;
    vp_aside threads[3];
    size_t thread_n;
    uint64_t entries;
    bool full; /* VP_WALK_ENTRIES_MAX entries were found */
    int rc;
    vp_error error;
} mirror_listing;

mirror_table *mirror_table_new(void);
void mirror_table_free(mirror_table *t);
/* The object with this path, or NULL. */
const mirror_entry *mirror_at(const mirror_table *t, vp_str path);
vp_file_id mirror_id_of(const mirror *m, const mirror_entry *e);

/* The address of an entry, freed by the caller; NULL: out of memory. */
char *mirror_url_of(const mirror *m, const char *path);

/* mirror_tree, under the listing's lock. Adds a directory, also an empty one. */
int mirror_put_dir(mirror_listing *l, vp_str path);
/* Adds an object; strings are copied. */
int mirror_put_file(mirror_listing *l, vp_str path, const source_entry *e);
/* Counts n omitted names, and stores the reason for the first. */
void mirror_leave_out(mirror_table *t, uint64_t n, vp_str why);
/* Call after the last entry: sorts them and removes duplicates. */
int mirror_table_end(mirror_table *t);

/* True for names of profiles and archives. */
bool mirror_is_file_name(vp_str name);
/* mirror_list: lists everything beneath the address, on this thread and others. */
int mirror_list(mirror_listing *l);

#endif
