/* Inflating by zlib. */
#include <zlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/gzip/gzip.h"
#include "trace/read/gzip/gzip_backend.h"

#define RAW_DEFLATE (-15) /* maximum window, no header */
#define GZIP (15 + 16)    /* the same with a gzip header */

static void *zalloc_counted(void *ctx, unsigned count, unsigned size)
{
    (void)ctx;
    return vp_calloc(count, size);
}

static void zfree_counted(void *ctx, void *p)
{
    (void)ctx;
    vp_free(p);
}

static void *zlib_create(void)
{
    z_stream *z = vp_calloc(1, sizeof *z);
    if (!z)
        return NULL;
    z->zalloc = zalloc_counted;
    z->zfree = zfree_counted;
    if (inflateInit2(z, RAW_DEFLATE) != Z_OK) {
        vp_free(z);
        return NULL;
    }
    return z;
}

static void zlib_destroy(void *state)
{
    inflateEnd(state);
    vp_free(state);
}

static void zlib_reset(void *state)
{
    inflateReset(state);
}

static gz_step zlib_run(void *state, gz_io *io)
{
    z_stream *z = state;
    z->next_in = io->in;
    z->avail_in = (uInt)io->in_n;
    z->next_out = io->out;
    z->avail_out = (uInt)io->out_n;
    int rc = inflate(z, Z_NO_FLUSH);
    *io = (gz_io){z->next_in, z->avail_in, z->next_out, z->avail_out};
    if (rc == Z_STREAM_END)
        return GZ_END;
    return rc == Z_OK || rc == Z_BUF_ERROR ? GZ_MORE : GZ_BROKEN;
}

static size_t zlib_give_back(void *state, unsigned char bytes[GZ_BACK_MAX])
{
    (void)state, (void)bytes;
    return 0;
}

static uint32_t zlib_crc(uint32_t crc, const void *p, size_t n)
{
    return (uint32_t)crc32_z(crc, p, n);
}

const gz_backend *gz_backend_zlib(void)
{
    static const gz_backend b = {zlib_create, zlib_destroy,   zlib_reset,
                                 zlib_run,    zlib_give_back, zlib_crc};
    return &b;
}

int gz_head(const void *p, size_t n, char *out, size_t cap, size_t *got)
{
    z_stream z = {.zalloc = zalloc_counted,
                  .zfree = zfree_counted,
                  .next_in = (Bytef *)(uintptr_t)p,
                  .avail_in = (uInt)n,
                  .next_out = (Bytef *)out,
                  .avail_out = (uInt)cap};
    *got = 0;
    if (inflateInit2(&z, GZIP) != Z_OK)
        return vp_fail(VP_ENOMEM, "out of memory for gzip");
    int rc = inflate(&z, Z_SYNC_FLUSH);
    inflateEnd(&z);
    if (rc == Z_MEM_ERROR)
        return vp_fail(VP_ENOMEM, "out of memory for gzip");
    *got = cap - z.avail_out;
    return 0;
}
