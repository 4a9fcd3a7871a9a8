#include "trace/source/mirror.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"
#include "trace/source/mirror_impl.h"

/* In ms: a listing is repeated after this time, or after ten times its duration. */
#define FRESH_MS 2000
#define FRESH_TIMES 10

bool mirror_is_url(const char *path)
{
    return source_is_address(path);
}

/* ---- Local directories ---- */

static int cache_dir(char *out)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (cache && *cache == '/')
        n = snprintf(out, VP_PATH_MAX, "%s/view_profile/remote", cache);
    else if (home && *home == '/')
        n = snprintf(out, VP_PATH_MAX, "%s/.cache/view_profile/remote", home);
    if (n <= 0 || n >= (int)VP_PATH_MAX / 4)
        return vp_fail(VP_EIO, "no cache directory: set XDG_CACHE_HOME or HOME");
    return n;
}

/* The parts of the address after the scheme, each converted to a valid directory name. */
static void put_address_parts(char *out, size_t cap, const char *from)
{
    size_t n = 0, part = 0;
    for (; *from && n + 2 < cap; from++) {
        bool starts = !part || out[n - 1] == '/';
        if (*from == '/' && starts)
            continue;
        if (*from != '/' && part >= NAME_MAX)
            continue;
        part = *from == '/' ? 1 : part + 1;
        out[n++] = *from == '.' && starts ? '_' : *from;
    }
    out[n] = 0;
}

static int open_mirror_dir(const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (*fd >= 0)
        return 0;
    vp_fail(VP_EIO, "cannot open: %s", strerror(errno));
    return vp_fail_at(VP_EIO, path, -1, -1);
}

/* Creates all directories of a path, private to this user. */
static int make_dirs(const char *path)
{
    char part[VP_PATH_MAX];
    for (size_t i = 1;; i++) {
        if (path[i] && path[i] != '/')
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0700) < 0 && errno != EEXIST) {
            vp_fail(VP_EIO, "cannot create the directory: %s", strerror(errno));
            return vp_fail_at(VP_EIO, part, -1, -1);
        }
        if (!path[i])
            return 0;
    }
}

static int make_mirror_dirs(mirror *m)
{
    char path[VP_PATH_MAX];
    VP_TRY(cache_dir(m->cache));
    snprintf(path, sizeof path, "%.1024s/kept", m->cache);
    VP_TRY(make_dirs(path));
    VP_TRY(open_mirror_dir(path, &m->kept.dir));
    m->root[0] = '/';
    put_address_parts(m->root + 1, VP_PATH_MAX / 2, strstr(m->at.base, "://") + 3);
    m->dev = vp_fingerprint(m->at.query, strlen(m->at.query), 0);
    m->dev = vp_fingerprint(m->at.url, strlen(m->at.url), m->dev);
    return 0;
}

/* ---- Ownership ---- */

static int mirror_start(mirror *m, const char *url)
{
    VP_TRY(source_address_read(&m->at, url));
    m->ask.user = m->at.user;
    m->ask.query = m->at.query;
    VP_TRY(make_mirror_dirs(m));
    kept_trim(&m->kept);
    return 0;
}

int mirror_open(mirror **out, const char *url, const source_ask *ask, void (*drop)(void *ctx))
{
    mirror *m = vp_calloc(1, sizeof *m);
    VP_NEED(m);
    atomic_init(&m->refs, 1);
    atomic_init(&m->spoiled, false);
    m->ask = *ask;
    m->kept.dir = -1;
    pthread_mutex_init(&m->lock, NULL);
    m->kept.most_bytes = VP_REMOTE_KEPT_MAX;
    m->kept.most_files = VP_REMOTE_KEPT_FILES_MAX;
    pthread_mutex_init(&m->kept.lock, NULL);
    int rc = mirror_start(m, url);
    if (rc < 0) {
        mirror_free(m);
        return rc;
    }
    m->drop = drop;
    *out = m;
    return 0;
}

mirror *mirror_ref(mirror *m)
{
    atomic_fetch_add(&m->refs, 1);
    return m;
}

void mirror_free(mirror *m)
{
    if (!m || atomic_fetch_sub(&m->refs, 1) != 1)
        return;
    mirror_table_free(m->table);
    vp_fs_close(&m->kept.dir);
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->kept.lock);
    if (m->drop)
        m->drop(m->ask.ctx);
    source_address_free(&m->at);
    vp_free(m);
}

const char *mirror_cache(const mirror *m)
{
    return m->cache;
}

const char *mirror_url(const mirror *m)
{
    return m->at.url;
}

bool mirror_is_file(const mirror *m)
{
    return m->is_file;
}

uint64_t mirror_left_out(const mirror *m, const char **why)
{
    *why = m->table->why;
    return m->table->left_out;
}

void mirror_spoil(mirror *m)
{
    atomic_store(&m->spoiled, true);
}

/* ---- Renewal ---- */

/* Gets the one object that the address names. VP_ENOTFOUND: it names none. */
static int take_one(mirror_listing *l)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    source_entry e;
    vp_buf_init(&b, 1 << 20);
    VP_TRY(source_ask_head(&l->m->ask, l->m->at.url, &b, &e));
    if (e.is_dir || e.bytes < 0)
        return vp_fail(VP_ENOTFOUND, "unknown size");
    VP_TRY(mirror_put_file(l, VP_STR(""), &e));
    return l->table->n ? 0 : vp_fail(VP_ELIMIT, "%s", l->table->why);
}

static int take_all(mirror_listing *l)
{
    VP_TRY(mirror_list(l));
    return l->entries ? 0 : vp_fail(VP_ENOTFOUND, "no objects found at this address");
}

static bool looks_like_file(const mirror *m)
{
    size_t n = strlen(m->at.base);
    if (m->at.url[n] == '/')
        return false;
    size_t slash = vp_str_rfind_char((vp_str){m->at.base, n}, '/');
    return slash < n && mirror_is_file_name(vp_str_of(m->at.base + slash + 1));
}

/* Detects if the address is a file or a directory: tries what its name suggests, then the other. */
static int find_out(mirror_listing *l)
{
    mirror *m = l->m;
    bool file = m->known ? m->is_file : looks_like_file(m);
    int rc = file ? take_one(l) : take_all(l);
    /* Some servers report a file as "not a directory". */
    bool other = rc == VP_ENOTFOUND || (rc == VP_EUNSUPPORTED && m->at.web && !file);
    if (other && !m->known) {
        vp_error why = *vp_error_last();
        file = !file;
        if (!file || m->at.url[strlen(m->at.base)] != '/')
            rc = file ? take_one(l) : take_all(l);
        if (rc == VP_ENOTFOUND)
            rc = vp_fail_copy(&why);
    }
    VP_TRY(rc);
    m->is_file = file;
    m->known = true;
    return 0;
}

static int mirror_renew_table(mirror *m, const mirror_renewal *how)
{
    mirror_listing l = {.m = m, .how = how, .old = m->table, .table = mirror_table_new()};
    VP_NEED(l.table);
    pthread_mutex_init(&l.lock, NULL);
    pthread_cond_init(&l.changed, NULL);
    int rc = find_out(&l);
    if (rc >= 0)
        rc = mirror_table_end(l.table);
    vp_free(l.tasks);
    pthread_cond_destroy(&l.changed);
    pthread_mutex_destroy(&l.lock);
    if (rc >= 0) {
        pthread_mutex_lock(&m->lock);
        mirror_table *old = m->table;
        m->table = l.table;
        l.table = old;
        pthread_mutex_unlock(&m->lock);
    }
    mirror_table_free(l.table);
    return rc < 0 ? vp_fail_at(rc, m->at.url, -1, -1) : 0;
}

int mirror_renew(mirror *m, const mirror_renewal *how, const char **root)
{
    int64_t start = vp_now_ms(), fresh = m->took_ms * FRESH_TIMES;
    fresh = fresh > FRESH_MS ? fresh : FRESH_MS;
    bool spoiled = atomic_exchange(&m->spoiled, false);
    if (!m->table || spoiled || start - m->renewed_ms >= fresh) {
        VP_TRY(mirror_renew_table(m, how));
        m->renewed_ms = vp_now_ms();
        m->took_ms = m->renewed_ms - start;
    }
    *root = m->root;
    return 0;
}
