/* Random access to bytes: a file, memory, a spooled stream, or callbacks. */
#include <string.h>

#include "trace/base/buf.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/bytes/byte_stream.h"

struct rd_source {
    int fd; /* -1: memory */
    const char *mem;
    char *owned;    /* same as mem if owned, else NULL */
    rd_calls calls; /* read: NULL unless the source uses callbacks */
    int64_t size;
};

static int source_new(rd_source **out, rd_source init)
{
    rd_source *s = vp_malloc(sizeof *s);
    if (!s) {
        vp_fs_close(&init.fd);
        vp_free(init.owned);
        if (init.calls.read)
            init.calls.close(init.calls.ctx);
        return vp_fail(VP_ENOMEM, "out of memory for a source");
    }
    *s = init;
    *out = s;
    return 0;
}

int rd_source_fd(rd_source **out, int fd)
{
    VP_CLEANUP(vp_fs_close) int owned = fd;
    vp_file_id id;
    VP_TRY(vp_fs_identity(fd, &id));
    return source_new(out, (rd_source){.fd = vp_fs_take(&owned), .size = id.size});
}

int rd_source_memory(rd_source **out, const void *p, size_t n)
{
    return source_new(out, (rd_source){.fd = -1, .mem = p, .size = (int64_t)n});
}

int rd_source_calls(rd_source **out, int64_t size, const rd_calls *calls)
{
    return source_new(out, (rd_source){.fd = -1, .size = size, .calls = *calls});
}

/* Collects a stream: in memory first, then in a file once it exceeds the limit for memory. */
typedef struct spool {
    vp_buf mem;
    int fd;
    int64_t size;
} spool;

static void spool_free(spool *sp)
{
    vp_buf_free(&sp->mem);
    vp_fs_close(&sp->fd);
}

static int spool_put(spool *sp, const char *p, size_t n)
{
    if (sp->size > VP_ARCHIVE_MEMBER_MAX - (int64_t)n)
        return vp_fail(VP_ELIMIT, "more than %lld GiB when unpacked",
                       (long long)(VP_ARCHIVE_MEMBER_MAX >> 30));
    sp->size += (int64_t)n;
    if (sp->fd < 0 && sp->size <= (int64_t)VP_SPOOL_MEMORY_MAX)
        return vp_buf_put(&sp->mem, p, n);
    if (sp->fd < 0) {
        VP_TRY(vp_fs_temp(&sp->fd));
        VP_TRY(vp_fs_write_all(sp->fd, sp->mem.p, sp->mem.n));
        vp_buf_free(&sp->mem);
    }
    return vp_fs_write_all(sp->fd, p, n);
}

int rd_source_spool(rd_source **out, rd_stream *in, vp_error *damage)
{
    VP_CLEANUP(spool_free) spool sp = {.fd = -1};
    rd_source init = {.fd = -1};
    char *p;
    size_t n;
    int rc;
    vp_buf_init(&sp.mem, VP_SPOOL_MEMORY_MAX + 1); /* one byte more for the NUL of vp_buf_take */
    while ((rc = in->next(in, &p, &n)) > 0)
        VP_TRY(spool_put(&sp, p, n));
    VP_TRY(rc);
    init.size = sp.size;
    init.fd = vp_fs_take(&sp.fd);
    if (init.fd < 0) {
        init.owned = vp_buf_take(&sp.mem, &n);
        init.mem = init.owned;
        if (!init.owned)
            return vp_fail(VP_ENOMEM, "out of memory for %lld bytes", (long long)sp.size);
    }
    VP_TRY(source_new(out, init));
    if (damage)
        *damage = in->damage;
    return 0;
}

int64_t rd_source_size(const rd_source *s)
{
    return s->size;
}

bool rd_source_in_memory(const rd_source *s, vp_str *bytes)
{
    bool in_memory = s->fd < 0 && !s->calls.read;
    if (in_memory)
        *bytes = (vp_str){s->mem, (size_t)s->size};
    return in_memory;
}

int rd_source_read(rd_source *s, void *buf, size_t n, int64_t offset, size_t *got)
{
    if (offset < 0)
        return vp_fail(VP_EARG, "read before the start");
    int64_t left = offset < s->size ? s->size - offset : 0;
    n = left < (int64_t)n ? (size_t)left : n;
    if (s->fd >= 0)
        return vp_fs_pread(s->fd, buf, n, offset, got);
    if (n && s->calls.read)
        VP_TRY(s->calls.read(s->calls.ctx, buf, n, offset));
    else if (n)
        memcpy(buf, s->mem + offset, n);
    *got = n;
    return 0;
}

void rd_source_in_order(rd_source *s)
{
    if (s->calls.in_order)
        s->calls.in_order(s->calls.ctx);
}

void rd_source_close(rd_source *s)
{
    if (!s)
        return;
    vp_fs_close(&s->fd);
    vp_free(s->owned);
    if (s->calls.read)
        s->calls.close(s->calls.ctx);
    vp_free(s);
}
