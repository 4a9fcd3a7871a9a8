#include "server/net/answer/cache.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* Each entry uses a file descriptor. */
#define ENTRIES_MAX 16
/* In bytes: free space that is left on the file system of the temporary directory, and the interval
 * of written bytes after which free space is checked again. */
#define LEAVE_BYTES (INT64_C(512) << 20)
#define LOOK_EVERY (INT64_C(16) << 20)
#define KEY_SIZE 96u

typedef struct entry {
    char key[KEY_SIZE]; /* "" if the slot is free */
    int fd;
    int64_t bytes;
    uint64_t used; /* value of `uses` at its last use */
} entry;

struct http_cache {
    pthread_mutex_t lock;
    entry entries[ENTRIES_MAX];
    uint64_t uses;
};

int http_cache_new(http_cache **out)
{
    http_cache *c = vp_calloc(1, sizeof *c);
    VP_NEED(c);
    pthread_mutex_init(&c->lock, NULL);
    *out = c;
    return 0;
}

static void drop_cache_entry(entry *e)
{
    if (e->key[0])
        vp_fs_close(&e->fd);
    *e = (entry){.fd = -1};
}

void http_cache_free(http_cache *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < ENTRIES_MAX; i++)
        drop_cache_entry(&c->entries[i]);
    pthread_mutex_destroy(&c->lock);
    vp_free(c);
}

/* Called with the lock held. NULL if not found. */
static entry *find_cache_entry(http_cache *c, const char *key)
{
    for (size_t i = 0; i < ENTRIES_MAX; i++)
        if (!strcmp(c->entries[i].key, key))
            return &c->entries[i];
    return NULL;
}

bool http_cache_get(http_cache *c, const char *key, int *fd)
{
    int copy = -1;
    pthread_mutex_lock(&c->lock);
    entry *e = key[0] ? find_cache_entry(c, key) : NULL;
    if (e) {
        e->used = ++c->uses;
        copy = fcntl(e->fd, F_DUPFD_CLOEXEC, 3);
    }
    pthread_mutex_unlock(&c->lock);
    if (copy >= 0)
        *fd = copy;
    return copy >= 0;
}

/* Called with the lock held. Returns a free slot after evicting the least recently used entries
 * until `bytes` more fit. */
static entry *make_cache_room(http_cache *c, int64_t bytes)
{
    for (;;) {
        entry *empty = NULL, *oldest = NULL;
        int64_t total = bytes;
        for (size_t i = 0; i < ENTRIES_MAX; i++) {
            entry *e = &c->entries[i];
            total += e->bytes;
            if (!e->key[0])
                empty = e;
            else if (!oldest || e->used < oldest->used)
                oldest = e;
        }
        if (empty && total <= VP_HTTP_CACHE_BYTES_MAX)
            return empty;
        if (!oldest)
            return NULL;
        drop_cache_entry(oldest);
    }
}

/* Takes ownership of the descriptor. */
static void keep_in_cache(http_cache *c, const char *key, int taken, int64_t bytes)
{
    VP_CLEANUP(vp_fs_close) int fd = taken;
    pthread_mutex_lock(&c->lock);
    entry *e = find_cache_entry(c, key) ? NULL : make_cache_room(c, bytes);
    if (e) {
        snprintf(e->key, sizeof e->key, "%s", key);
        e->fd = vp_fs_take(&fd);
        e->bytes = bytes;
        e->used = ++c->uses;
    }
    pthread_mutex_unlock(&c->lock);
}

/* ---- Filling -------------------------------------------------------------------------------- */

typedef struct filler {
    http_source in;
    http_cache *cache;
    int fd; /* -1: not started, or abandoned */
    bool given_up;
    int64_t bytes, looked_at;
    char key[KEY_SIZE];
} filler;

static void give_up_filling(filler *f)
{
    vp_fs_close(&f->fd);
    f->given_up = true;
}

/* True if there is space for the next LOOK_EVERY bytes. */
static bool has_space(filler *f)
{
    struct statvfs fs;
    if (f->bytes < f->looked_at)
        return true;
    f->looked_at = f->bytes + LOOK_EVERY;
    return fstatvfs(f->fd, &fs) == 0 &&
           (double)fs.f_bavail * (double)fs.f_frsize >= (double)(LEAVE_BYTES + LOOK_EVERY);
}

/* The response is delivered even if it cannot be cached, so errors are ignored here. */
static void write_piece(filler *f, const char *p, size_t n)
{
    if (f->fd < 0 && vp_fs_temp(&f->fd) < 0)
        f->fd = -1;
    if (f->fd < 0 || f->bytes + (int64_t)n > VP_HTTP_CACHE_BYTES_MAX || !has_space(f) ||
        vp_fs_write_all(f->fd, p, n) < 0)
        give_up_filling(f);
    f->bytes += (int64_t)n;
}

static int fill_next(void *ctx, char **p, size_t *n)
{
    filler *f = ctx;
    int rc = f->in.next(f->in.ctx, p, n);
    if (rc > 0 && !f->given_up)
        write_piece(f, *p, *n);
    else if (rc == 0 && f->fd >= 0 && !(f->in.lacking && *f->in.lacking))
        keep_in_cache(f->cache, f->key, vp_fs_take(&f->fd), f->bytes);
    else if (rc < 0)
        give_up_filling(f);
    return rc;
}

static void fill_close(void *ctx)
{
    filler *f = ctx;
    f->in.close(f->in.ctx);
    vp_fs_close(&f->fd);
    vp_free(f);
}

int http_cache_fill(http_source *out, http_source in, http_cache *c, const char *key)
{
    filler *f = vp_calloc(1, sizeof *f);
    if (!f) {
        in.close(in.ctx);
        return vp_no_memory();
    }
    f->in = in;
    f->cache = c;
    f->fd = -1;
    snprintf(f->key, sizeof f->key, "%s", key);
    *out = (http_source){.next = fill_next, .close = fill_close, .ctx = f, .lacking = in.lacking};
    return 0;
}
