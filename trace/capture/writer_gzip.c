#include "trace/capture/writer_gzip.h"

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"

#define GZIP_WINDOW (15 + 16)

int wz_open(wz_file *f, int fd)
{
    *f = (wz_file){.fd = fd, .out = vp_malloc(WZ_OUT)};
    if (!f->out || deflateInit2(&f->z, 1, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        vp_free(f->out);
        f->out = NULL;
        return vp_fail(VP_ENOMEM, "out of memory");
    }
    return 0;
}

static int step(wz_file *f, int flush)
{
    int rc;
    do {
        f->z.next_out = f->out;
        f->z.avail_out = WZ_OUT;
        rc = deflate(&f->z, flush);
        size_t n = WZ_OUT - f->z.avail_out;
        VP_TRY(vp_fs_write_all(f->fd, f->out, n));
        f->bytes += n;
    } while (f->z.avail_in || f->z.avail_out == 0 || (flush == Z_FINISH && rc != Z_STREAM_END));
    return 0;
}

int wz_write(void *ctx, const void *data, size_t n)
{
    wz_file *f = ctx;
    const unsigned char *p = data;
    while (n) {
        size_t some = n < (1u << 30) ? n : 1u << 30;
        f->z.next_in = (unsigned char *)p;
        f->z.avail_in = (unsigned)some;
        VP_TRY(step(f, Z_NO_FLUSH));
        p += some;
        n -= some;
    }
    return 0;
}

int wz_finish(wz_file *f)
{
    return step(f, Z_FINISH);
}

void wz_free(wz_file *f)
{
    if (f->out)
        deflateEnd(&f->z);
    vp_free(f->out);
    f->out = NULL;
}
