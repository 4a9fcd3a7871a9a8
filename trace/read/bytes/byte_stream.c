#include "trace/read/bytes/byte_stream.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/buf.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/read/bytes/chunk.h"

void rd_stream_close(rd_stream **s)
{
    if (*s)
        (*s)->close(*s);
    *s = NULL;
}

#define HOLE_LEAST (64 << 10)

/* A stream over a file, pipe, memory or source: one struct, because all copy into one reused
 * chunk. */
typedef struct basic_stream {
    rd_stream base;
    char *chunk;
    size_t cap;
    int fd;          /* -1 for memory */
    int64_t hole;    /* text: offset of the first hole, where the stream ends; -1: none */
    const char *mem; /* borrowed */
    rd_source *source;
    int64_t pos;
    bool ended;
} basic_stream;

static void basic_close(rd_stream *s)
{
    basic_stream *b = (basic_stream *)s;
    vp_fs_close(&b->fd);
    rd_source_close(b->source);
    rd_chunk_free(b->chunk);
    vp_free(b);
}

typedef int next_fn(rd_stream *, char **, size_t *);
typedef int fill_fn(rd_stream *, char *, size_t, size_t *);

static int basic_new(rd_stream **out, next_fn *next, fill_fn *fill, int fd, int64_t total,
                     size_t cap)
{
    basic_stream *b = vp_calloc(1, sizeof *b);
    char *chunk = rd_chunk_new(cap);
    if (!b || !chunk) {
        rd_chunk_free(chunk);
        vp_free(b);
        vp_fs_close(&fd);
        return vp_fail(VP_ENOMEM, "out of memory for a read window of %zu bytes", cap);
    }
    *b = (basic_stream){.chunk = chunk, .cap = cap, .fd = fd, .hole = -1};
    b->base.next = next;
    b->base.fill = fill;
    b->base.close = basic_close;
    b->base.total = b->base.raw_total = total;
    *out = &b->base;
    return 0;
}

static int stream_deliver(basic_stream *b, size_t n, size_t *n_out)
{
    if (n == 0) {
        b->ended = true;
        return 0;
    }
    b->pos += (int64_t)n;
    b->base.raw_done = b->pos;
    *n_out = n;
    return 1;
}

static size_t stream_bytes_left(const basic_stream *b, size_t cap)
{
    int64_t left = (b->hole < 0 ? b->base.total : b->hole) - b->pos;
    return left < (int64_t)cap ? (size_t)left : cap;
}

/* Ends the stream at byte `at` with the error recorded last as its damage. */
static void end_at(basic_stream *b, int64_t at)
{
    b->ended = true;
    vp_fail_at(VP_ECORRUPT, NULL, -1, at);
    b->base.damage = *vp_error_last();
}

static int fd_fill(rd_stream *s, char *p, size_t cap, size_t *n)
{
    basic_stream *b = (basic_stream *)s;
    size_t want = stream_bytes_left(b, cap), got;
    if (b->ended)
        return 0;
    VP_TRY(vp_fs_pread(b->fd, p, want, b->pos, &got));
    if (got < want) {
        vp_fail(VP_ECORRUPT, "the file was truncated while being read: %lld of %lld bytes are left",
                (long long)b->pos + (long long)got, (long long)s->total);
        end_at(b, b->pos + (int64_t)got);
    } else if (b->pos + (int64_t)got == b->hole) {
        vp_fail(VP_ECORRUPT, "a hole (unwritten data) in a file of %lld bytes",
                (long long)s->total);
        end_at(b, b->hole);
    }
    return stream_deliver(b, got, n);
}

/* Reads into the stream's own chunk. */
static int basic_next(rd_stream *s, char **p, size_t *n)
{
    basic_stream *b = (basic_stream *)s;
    *p = b->chunk;
    return s->fill(s, b->chunk, b->cap, n);
}

/* A growing file is read up to its size at this moment, so the result is a consistent prefix. */
int rd_stream_fd(rd_stream **out, int fd)
{
    VP_CLEANUP(vp_fs_close) int owned = fd;
    vp_file_id id;
    VP_TRY(vp_fs_identity(fd, &id));
    size_t cap = id.size < (int64_t)VP_READ_WINDOW ? (size_t)id.size : VP_READ_WINDOW;
    return basic_new(out, basic_next, fd_fill, vp_fs_take(&owned), id.size, cap ? cap : 1);
}

/* Offset of the first hole of HOLE_LEAST bytes, which only an incompletely written file has; -1:
 * none. A file system without holes reports one at the end of the file. */
static int64_t find_hole(int fd, int64_t size)
{
    off_t hole = 0, data = 0;
    for (;;) {
        hole = lseek(fd, data, SEEK_HOLE);
        if (hole < 0 || hole >= size)
            return -1;
        data = lseek(fd, hole, SEEK_DATA);
        if (data < 0 || data > size)
            data = size;
        if (data - hole >= HOLE_LEAST)
            return hole;
    }
}

int rd_stream_text(rd_stream **out, int fd)
{
    VP_TRY(rd_stream_fd(out, fd));
    basic_stream *b = (basic_stream *)*out;
    off_t was = lseek(b->fd, 0, SEEK_CUR); /* the descriptor's owner shares this position */
    b->hole = find_hole(b->fd, b->base.total);
    lseek(b->fd, was, SEEK_SET);
    return 0;
}

static int read_fd_or_wait(int fd, char *p, size_t n, size_t *got)
{
    for (;;) {
        ssize_t r = read(fd, p, n);
        if (r >= 0) {
            *got = (size_t)r;
            return 0;
        }
        if (errno == EAGAIN) {
            struct pollfd wait = {.fd = fd, .events = POLLIN};
            poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return vp_fail(VP_EIO, "cannot read from the pipe: %s", strerror(errno));
        }
    }
}

/* Fills the chunk before returning it, because pipes deliver 64 KiB at a time. */
static int pipe_next(rd_stream *s, char **p, size_t *n)
{
    basic_stream *b = (basic_stream *)s;
    size_t filled = 0, got = 1;
    while (!b->ended && filled < b->cap && got) {
        VP_TRY(read_fd_or_wait(b->fd, b->chunk + filled, b->cap - filled, &got));
        filled += got;
    }
    *p = b->chunk;
    return stream_deliver(b, filled, n);
}

int rd_stream_pipe(rd_stream **out, int fd)
{
    return basic_new(out, pipe_next, NULL, fd, -1, VP_READ_WINDOW);
}

static int memory_fill(rd_stream *s, char *p, size_t cap, size_t *n)
{
    basic_stream *b = (basic_stream *)s;
    size_t want = stream_bytes_left(b, cap < b->cap ? cap : b->cap);
    if (want)
        memcpy(p, b->mem + b->pos, want);
    return stream_deliver(b, want, n);
}

int rd_stream_memory(rd_stream **out, const void *p, size_t n, size_t chunk)
{
    size_t cap = chunk ? chunk : VP_READ_WINDOW;
    cap = n < cap ? n : cap;
    VP_TRY(basic_new(out, basic_next, memory_fill, -1, (int64_t)n, cap ? cap : 1));
    ((basic_stream *)*out)->mem = p;
    return 0;
}

static int source_fill(rd_stream *s, char *p, size_t cap, size_t *n)
{
    basic_stream *b = (basic_stream *)s;
    size_t got = 0;
    VP_TRY(rd_source_read(b->source, p, stream_bytes_left(b, cap), b->pos, &got));
    return stream_deliver(b, got, n);
}

int rd_stream_source(rd_stream **out, rd_source *in)
{
    int64_t size = rd_source_size(in);
    size_t cap = size < (int64_t)VP_READ_WINDOW ? (size_t)size : VP_READ_WINDOW;
    int rc = basic_new(out, basic_next, source_fill, -1, size, cap ? cap : 1);
    if (rc < 0)
        rd_source_close(in);
    else
        ((basic_stream *)*out)->source = in;
    return rc;
}

int rd_stream_slurp(rd_stream *s, size_t max, char **out, size_t *n)
{
    VP_CLEANUP(vp_buf_free) vp_buf all;
    char *p;
    size_t got;
    int rc;
    max = max < SIZE_MAX ? max : SIZE_MAX - 1;
    vp_buf_init(&all, max + 1); /* one byte more for the NUL of vp_buf_take */
    while ((rc = s->next(s, &p, &got)) > 0) {
        if (got > max - all.n)
            return vp_fail(VP_ELIMIT, "more than %zu bytes", max);
        VP_TRY(vp_buf_put(&all, p, got));
    }
    VP_TRY(rc);
    char *taken = vp_buf_take(&all, n);
    if (!taken)
        return vp_fail(VP_ENOMEM, "out of memory for %zu bytes", all.n);
    *out = taken;
    return 0;
}
