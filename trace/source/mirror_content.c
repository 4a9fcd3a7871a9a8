/* Content of the objects of a mirror: small content is cached on disk, other content is read on
 * demand. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/source/mirror_impl.h"
#include "trace/source/object.h"

/* Objects smaller than this are fetched completely when their first bytes are needed. */
#define HEAD_WHOLE (64 << 10)

/* A version of an object. */
typedef struct version {
    char *url; /* owned */
    char etag[MIRROR_ETAG];
    int64_t bytes, mtime_ns;
} version;

static void version_free(version *v)
{
    vp_free(v->url);
}

static int fail_object_changed(const char *url)
{
    vp_fail(VP_EIO, "changed since it was listed; list it again");
    return vp_fail_at(VP_EIO, url, -1, -1);
}

/* The caller holds the lock. */
static mirror_entry *mirror_entry_of(const mirror *m, const vp_file_id *id)
{
    uint32_t i = m->table ? vp_map_get(&m->table->by_ino, id->ino) : VP_MAP_NONE;
    mirror_entry *e = i == VP_MAP_NONE ? NULL : &m->table->entries[i];
    return e && e->bytes == id->size && e->mtime_ns == id->mtime_ns ? e : NULL;
}

int mirror_check(mirror *m, const vp_file_id *id)
{
    pthread_mutex_lock(&m->lock);
    bool same = mirror_entry_of(m, id),
         known = m->table && vp_map_get(&m->table->by_ino, id->ino) != VP_MAP_NONE;
    pthread_mutex_unlock(&m->lock);
    if (same)
        return 0;
    return known ? fail_object_changed(m->at.url)
                 : vp_fail(VP_ENOTFOUND, "removed since it was listed");
}

/* If listings contain no version, requests it from the object once. */
static int ask_etag(mirror *m, const vp_file_id *id, version *v)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    source_entry now;
    vp_buf_init(&b, 1 << 20);
    int rc = source_ask_head(&m->ask, v->url, &b, &now);
    if (rc < 0)
        return vp_fail_at(rc, v->url, -1, -1);
    if (now.bytes >= 0 && now.bytes != v->bytes)
        return fail_object_changed(v->url);
    if (!now.etag.n || now.etag.n >= sizeof v->etag)
        return 0;
    memcpy(v->etag, now.etag.p, now.etag.n);
    v->etag[now.etag.n] = 0;
    pthread_mutex_lock(&m->lock);
    mirror_entry *e = mirror_entry_of(m, id);
    char *copy = e ? vp_arena_strndup(&m->table->arena, v->etag, now.etag.n) : NULL;
    if (copy)
        e->etag = copy;
    pthread_mutex_unlock(&m->lock);
    return 0;
}

static int mirror_find_version(mirror *m, const vp_file_id *id, version *v)
{
    pthread_mutex_lock(&m->lock);
    const mirror_entry *e = mirror_entry_of(m, id);
    if (e) {
        v->url = mirror_url_of(m, e->path);
        snprintf(v->etag, sizeof v->etag, "%s", e->etag);
        v->bytes = e->bytes;
        v->mtime_ns = e->mtime_ns;
    }
    pthread_mutex_unlock(&m->lock);
    if (!e)
        return fail_object_changed(m->at.url);
    VP_NEED(v->url);
    return v->etag[0] ? 0 : ask_etag(m, id, v);
}

static void kept_name_of(char out[KEPT_NAME], const mirror *m, const version *v, const char *what)
{
    char numbers[64];
    snprintf(numbers, sizeof numbers, "%lld %lld", (long long)v->bytes, (long long)v->mtime_ns);
    const vp_str parts[] = {vp_str_of(v->url), vp_str_of(m->at.query), vp_str_of(v->etag),
                            vp_str_of(numbers), vp_str_of(what)};
    kept_name(out, parts, sizeof parts / sizeof *parts);
}

static int open_object(rd_source **out, const mirror *m, const version *v, int64_t part, bool once)
{
    const object_of of = {.url = v->url,
                          .etag = v->etag,
                          .bytes = part >= 0 ? part : v->bytes,
                          .is_part = part >= 0,
                          .once = once};
    return object_source(out, &m->ask, &of);
}

static int copy_source_to_fd(int fd, rd_source *from)
{
    VP_CLEANUP(rd_stream_close) rd_stream *in = NULL;
    char *p;
    size_t n;
    int rc;
    VP_TRY(rd_stream_source(&in, from));
    while ((rc = in->next(in, &p, &n)) > 0)
        VP_TRY(vp_fs_write_all(fd, p, n));
    return rc;
}

/* part: bytes from its start, or -1: all. */
static int keep_object(mirror *m, const version *v, int64_t part, int *fd)
{
    char name[KEPT_NAME], temp[KEPT_NAME];
    rd_source *from;
    kept_name_of(name, m, v, part < 0 ? "" : "head");
    if (kept_open(&m->kept, name, fd) >= 0)
        return 0;
    VP_TRY(kept_new(&m->kept, temp, fd));
    int rc = open_object(&from, m, v, part, true);
    if (rc >= 0)
        rc = copy_source_to_fd(*fd, from);
    if (rc >= 0) {
        kept_keep(&m->kept, temp, name, part < 0 ? v->bytes : part);
        return 0;
    }
    kept_drop(&m->kept, temp);
    vp_fs_close(fd);
    return rc;
}

int mirror_head(mirror *m, const vp_file_id *id, char *p, size_t n, size_t *got)
{
    VP_CLEANUP(version_free) version v = {0};
    VP_CLEANUP(vp_fs_close) int fd = -1;
    VP_TRY(mirror_find_version(m, id, &v));
    VP_TRY(keep_object(m, &v, v.bytes <= HEAD_WHOLE ? -1 : (int64_t)n, &fd));
    return vp_fs_pread(fd, p, n, 0, got);
}

static int keep_whole_object(mirror *m, const version *v, int *fd)
{
    if (v->bytes <= VP_REMOTE_WHOLE_MAX)
        return keep_object(m, v, -1, fd);
    vp_fail(VP_ELIMIT, "%lld bytes exceed the limit for remote copies; download the file first",
            (long long)v->bytes);
    return vp_fail_at(VP_ELIMIT, v->url, -1, -1);
}

int mirror_whole(mirror *m, const vp_file_id *id, int *fd)
{
    VP_CLEANUP(version_free) version v = {0};
    VP_TRY(mirror_find_version(m, id, &v));
    return keep_whole_object(m, &v, fd);
}

int mirror_source(mirror *m, const vp_file_id *id, rd_source **out)
{
    VP_CLEANUP(version_free) version v = {0};
    int fd;
    VP_TRY(mirror_find_version(m, id, &v));
    if (v.bytes > VP_REMOTE_SMALL_MAX)
        return open_object(out, m, &v, -1, false);
    VP_TRY(keep_whole_object(m, &v, &fd));
    return rd_source_fd(out, fd);
}

int mirror_stream(mirror *m, const vp_file_id *id, bool text, rd_stream **out)
{
    VP_CLEANUP(version_free) version v = {0};
    rd_source *in;
    int fd;
    VP_TRY(mirror_find_version(m, id, &v));
    if (v.bytes > VP_REMOTE_SMALL_MAX) {
        VP_TRY(open_object(&in, m, &v, -1, true));
        return rd_stream_source(out, in);
    }
    VP_TRY(keep_whole_object(m, &v, &fd));
    return (text ? rd_stream_text : rd_stream_fd)(out, fd);
}
