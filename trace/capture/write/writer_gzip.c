#include "trace/capture/write/writer_gzip.h"

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/capture/write/writer_isal.h"

#define GZIP_WINDOW (15 + 16)

static int open_stream(wz_file *f, bool try_isal)
{
    VP_NEED(f->out);
    if (try_isal)
        VP_TRY(wi_open(&f->isal));
    if (!f->isal && deflateInit2(&f->z, 1, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return vp_no_memory();
    return 0;
}

int wz_open(wz_file *f, int fd, bool try_isal)
{
    *f = (wz_file){.fd = fd, .out = vp_malloc(WZ_OUT)};
    int rc = open_stream(f, try_isal);
    if (rc == 0)
        return 0;
    vp_free(f->out);
    f->out = NULL;
    return rc;
}

/* Like wi_run, with zlib. */
static int run_zlib(z_stream *z, wz_io *io, bool last)
{
    z->next_in = (unsigned char *)io->in;
    z->avail_in = (unsigned)io->in_n;
    z->next_out = io->out;
    z->avail_out = (unsigned)io->out_n;
    int rc = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
    *io = (wz_io){z->next_in, z->avail_in, z->next_out, z->avail_out};
    return rc == Z_STREAM_END;
}

static int deflate_step(wz_file *f, const void *p, size_t n, bool last)
{
    wz_io io = {p, n, NULL, 0};
    int ended;
    do {
        io.out = f->out;
        io.out_n = WZ_OUT;
        ended = f->isal ? wi_run(f->isal, &io, last) : run_zlib(&f->z, &io, last);
        VP_TRY(ended);
        VP_TRY(vp_fs_write_all(f->fd, f->out, WZ_OUT - io.out_n));
        f->bytes += WZ_OUT - io.out_n;
    } while (io.in_n || io.out_n == 0 || (last && !ended));
    return 0;
}

int wz_write(void *ctx, const void *data, size_t n)
{
    const unsigned char *p = data;
    while (n) {
        size_t some = n < (1u << 30) ? n : 1u << 30;
        VP_TRY(deflate_step(ctx, p, some, false));
        p += some;
        n -= some;
    }
    return 0;
}

int wz_finish(wz_file *f)
{
    return deflate_step(f, NULL, 0, true);
}

void wz_free(wz_file *f)
{
    if (f->out && !f->isal)
        deflateEnd(&f->z);
    wi_free(f->isal);
    f->isal = NULL;
    vp_free(f->out);
    f->out = NULL;
}
