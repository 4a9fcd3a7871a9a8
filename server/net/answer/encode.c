#include "server/net/answer/encode.h"

#include <zlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

/* windowBits: 15 for the window, 16 more for gzip's header and trailer. */
#define GZIP_BITS 31
#define PIECE (64u << 10)

static void *z_alloc(void *ctx, unsigned count, unsigned size)
{
    (void)ctx;
    return vp_calloc(count, size);
}

static void z_free(void *ctx, void *p)
{
    (void)ctx;
    vp_free(p);
}

static int start_deflate(z_stream *z, int level)
{
    *z = (z_stream){.zalloc = z_alloc, .zfree = z_free};
    if (deflateInit2(z, level, Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return vp_no_memory();
    return 0;
}

int http_gzip_buffer(vp_buf *out, vp_str in)
{
    z_stream z;
    char piece[16 << 10];
    int state = Z_OK;
    if (in.n > UINT32_MAX)
        return vp_fail(VP_ELIMIT, "too large to compress in one call");
    VP_TRY(start_deflate(&z, 6));
    vp_buf_init(out, in.n);
    z.next_in = (Bytef *)(uintptr_t)in.p;
    z.avail_in = (uInt)in.n;
    while (state == Z_OK && !out->status) {
        z.next_out = (Bytef *)piece;
        z.avail_out = sizeof piece;
        state = deflate(&z, Z_FINISH);
        vp_buf_put(out, piece, sizeof piece - z.avail_out);
    }
    deflateEnd(&z);
    if (state == Z_STREAM_END || out->status)
        return out->status;
    vp_buf_free(out);
    return vp_fail(VP_EIO, "compression failed");
}

typedef struct gzip_source {
    http_source in;
    z_stream z;
    bool input_ended, ended;
    bool begun; /* flush the first piece, so that the client sees progress */
    char out[PIECE];
} gzip_source;

/* Reads input until some is available or the end is reached. */
static int feed_gzip_source(gzip_source *g)
{
    char *p;
    size_t n;
    if (g->z.avail_in || g->input_ended)
        return 0;
    int rc = g->in.next(g->in.ctx, &p, &n);
    VP_TRY(rc);
    if (!rc) {
        g->input_ended = true;
        return 0;
    }
    if (n > UINT32_MAX)
        return vp_fail(VP_ELIMIT, "piece too large to compress");
    g->z.next_in = (Bytef *)p;
    g->z.avail_in = (uInt)n;
    return 0;
}

static int gzip_next(void *ctx, char **p, size_t *n)
{
    gzip_source *g = ctx;
    g->z.next_out = (Bytef *)g->out;
    g->z.avail_out = PIECE;
    while (!g->ended && g->z.avail_out) {
        VP_TRY(feed_gzip_source(g));
        int state = deflate(&g->z, g->input_ended ? Z_FINISH
                                   : g->begun     ? Z_NO_FLUSH
                                                  : Z_SYNC_FLUSH);
        if (state == Z_STREAM_END)
            g->ended = true;
        else if (state != Z_OK && state != Z_BUF_ERROR)
            return vp_fail(VP_EIO, "compression failed");
        if (!g->begun && !g->z.avail_in && g->z.avail_out) {
            g->begun = true;
            break;
        }
    }
    *p = g->out;
    *n = PIECE - g->z.avail_out;
    return *n > 0;
}

static void gzip_close(void *ctx)
{
    gzip_source *g = ctx;
    g->in.close(g->in.ctx);
    deflateEnd(&g->z);
    vp_free(g);
}

int http_gzip_source(http_source *out, http_source in)
{
    gzip_source *g = vp_calloc(1, sizeof *g);
    int rc = g ? start_deflate(&g->z, 1) : vp_no_memory();
    if (rc < 0) {
        vp_free(g);
        in.close(in.ctx);
        return rc;
    }
    g->in = in;
    *out = (http_source){.next = gzip_next, .close = gzip_close, .ctx = g, .lacking = in.lacking};
    return 0;
}
