#include "trace/base/pb_file.h"

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"

#define LENGTH_BYTES 5u

int pf_open(pb_file *f, int fd)
{
    *f = (pb_file){.fd = fd, .out = vp_malloc(PF_BUFFER + PF_ROOM)};
    return f->out ? 0 : vp_no_memory();
}

void pf_free(pb_file *f)
{
    vp_free(f->out);
    f->out = NULL;
}

static int pb_file_write_out(pb_file *f, size_t n)
{
    VP_TRY(vp_fs_write_all(f->fd, f->out, n));
    f->flushed += n;
    f->n -= n;
    memmove(f->out, f->out + n, f->n);
    return 0;
}

int pf_drain(pb_file *f)
{
    return pb_file_write_out(f, PF_BUFFER);
}

int pf_flush(pb_file *f)
{
    return pb_file_write_out(f, f->n);
}

int pf_put(pb_file *f, const void *p, size_t n)
{
    for (const char *from = p; n;) {
        size_t some = n < PF_BUFFER - f->n ? n : PF_BUFFER - f->n;
        memcpy(f->out + f->n, from, some);
        f->n += some;
        from += some;
        n -= some;
        VP_TRY(pf_wrote(f, f->out + f->n));
    }
    return 0;
}

int pf_begin(pb_file *f, char tag, uint64_t *at)
{
    char head[1 + LENGTH_BYTES] = {tag};
    VP_TRY(pf_put(f, head, sizeof head));
    *at = f->flushed + f->n;
    return 0;
}

int pf_end(pb_file *f, uint64_t at)
{
    char length[LENGTH_BYTES];
    uint64_t n = f->flushed + f->n - at, from = at - LENGTH_BYTES;
    if (n >> (7 * LENGTH_BYTES))
        return vp_fail(VP_ELIMIT, "a part above 32 GiB is no protobuf");
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        length[i] = (char)((n >> (7 * i) & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80u : 0));
    size_t out = from >= f->flushed ? 0 : at <= f->flushed ? LENGTH_BYTES : f->flushed - from;
    if (out)
        VP_TRY(vp_fs_pwrite_all(f->fd, length, out, (int64_t)from));
    if (out < LENGTH_BYTES)
        memcpy(f->out + (from + out - f->flushed), length + out, LENGTH_BYTES - out);
    return 0;
}
