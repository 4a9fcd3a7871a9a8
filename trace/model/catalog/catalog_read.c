/* Opens the bytes of a listed file: beneath the root, and only if it is still the listed one. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/model/catalog/catalog_impl.h"
#include "trace/read/gzip/gzip.h"

int cat_open_file(const catalog *c, int dir_fd, const char *name, int *fd, vp_file_id *id)
{
    VP_CLEANUP(vp_fs_close) int f = -1;
    bool is_dir = false;
    if (c->spool_fd >= 0) {
        f = fcntl(c->spool_fd, F_DUPFD_CLOEXEC, 0);
        if (f < 0)
            return vp_fail(VP_EIO, "cannot open the file: %s", strerror(errno));
        if (id)
            VP_TRY(vp_fs_identity(f, id));
    } else {
        VP_TRY(vp_fs_open_beneath(dir_fd, name, &f, &is_dir, id));
    }
    if (is_dir) {
        vp_fail(VP_EIO, "replaced by a directory");
        return vp_fail_at(VP_EIO, name, -1, -1);
    }
    *fd = vp_fs_take(&f);
    return 0;
}

/* Fails if the file has changed, because offsets, members and cached figures would be wrong. */
static int open_listed(int *fd, const catalog *c, const cat_file *f)
{
    VP_CLEANUP(vp_fs_close) int opened = -1;
    vp_file_id id;
    VP_TRY(cat_open_file(c, c->root_fd, f->location, &opened, &id));
    if (id.ino != f->id.ino || id.dev != f->id.dev || id.size != f->id.size ||
        id.mtime_ns != f->id.mtime_ns) {
        vp_fail(VP_EIO,
                "the file has changed since it was listed (%lld bytes then, %lld now): "
                "list the directory again",
                (long long)f->id.size, (long long)id.size);
        return vp_fail_at(VP_EIO, f->path, -1, -1);
    }
    *fd = vp_fs_take(&opened);
    return 0;
}

/* The same with the whole content on the local disk. */
static int open_content(int *fd, const catalog *c, const cat_file *f)
{
    if (!c->mirror)
        return open_listed(fd, c, f);
    VP_TRY(catalog_check(c, f));
    return mirror_whole(c->mirror, &f->id, fd);
}

int catalog_fd(int *fd, const catalog *c, const cat_file *f)
{
    if (f->is_member) {
        vp_fail(VP_EUNSUPPORTED, "an archive member has no file descriptor");
        return vp_fail_at(VP_EUNSUPPORTED, f->path, -1, -1);
    }
    return open_content(fd, c, f);
}

int catalog_check(const catalog *c, const cat_file *f)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    if (!c->mirror)
        return open_listed(&fd, c, f);
    int rc = mirror_check(c->mirror, &f->id);
    return rc < 0 ? vp_fail_at(rc, f->path, -1, -1) : 0;
}

/* Opens the unpacked copy, which is not used for the raw bytes of a gzip file. */
static bool open_unpacked_copy(int *fd, const catalog *c, const cat_file *f, bool raw)
{
    bool packed = f->is_member || f->kind.gzip;
    return c->copies.open && packed && !(raw && f->kind.gzip) &&
           c->copies.open(c->copies.ctx, f, fd) == 0;
}

int catalog_stream(rd_stream **out, const catalog *c, const cat_file *f, bool raw)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    bool text = !raw && (f->kind.gzip || rd_formats[f->kind.format].text);
    rd_stream *stream;
    int rc;
    if (open_unpacked_copy(&fd, c, f, raw))
        return rd_stream_fd(out, vp_fs_take(&fd));
    if (c->mirror && !f->is_member)
        VP_TRY(catalog_check(c, f));
    else
        VP_TRY(open_content(&fd, c, f));
    if (f->is_member)
        rc = ar_member_open(&stream, fd, f->member_index);
    else if (c->mirror)
        rc = mirror_stream(c->mirror, &f->id, text, &stream);
    else
        rc = (text ? rd_stream_text : rd_stream_fd)(&stream, vp_fs_take(&fd));
    if (rc == 0 && f->kind.gzip && !raw)
        rc = gz_stream(&stream, stream, true);
    if (rc < 0)
        return vp_fail_at(rc, f->path, -1, -1);
    *out = stream;
    return 0;
}

int catalog_source(rd_source **out, const catalog *c, const cat_file *f, vp_error *damage)
{
    rd_stream *stream VP_CLEANUP(rd_stream_close) = NULL;
    int fd;
    if (damage)
        *damage = (vp_error){.offset = -1, .event = -1};
    if (!f->is_member && !f->kind.gzip && c->mirror) {
        VP_TRY(catalog_check(c, f));
        return mirror_source(c->mirror, &f->id, out);
    }
    if (!f->is_member && !f->kind.gzip) {
        VP_TRY(open_listed(&fd, c, f));
        return rd_source_fd(out, fd);
    }
    if (open_unpacked_copy(&fd, c, f, false))
        return rd_source_fd(out, fd);
    VP_TRY(catalog_stream(&stream, c, f, false));
    int rc = rd_source_spool(out, stream, damage);
    return rc < 0 ? vp_fail_at(rc, f->path, -1, -1) : 0;
}
