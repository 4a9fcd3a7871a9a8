#include "trace/read/gzip/gzip.h"

#include "trace/base/limits.h"
#include "trace/read/bytes/chunk.h"
#include "trace/read/gzip/gzip_decode.h"
#include "trace/read/gzip/gzip_ring.h"

/* Below this many compressed bytes a thread costs more than it saves. A pipe (unknown length) never
 * gets a thread: one that waits for a silent writer could not be ended. */
#define THREAD_FROM (256 << 10)

typedef struct gz {
    rd_stream base;
    rd_stream *in;
    gz_decoder decoder;
    bool threaded;
    gz_ring *ring; /* if threaded, after the first read */
    gz_slot slot;  /* otherwise */
} gz;

bool gz_is(const void *head, size_t n)
{
    const unsigned char *h = head;
    return n >= 2 && h[0] == 0x1f && h[1] == 0x8b;
}

bool gz_checksum_failed(const rd_stream *s)
{
    return s->damage.code && ((const gz *)s)->decoder.checksum_failed;
}

static int gz_fill_slot(void *ctx, gz_slot *slot)
{
    gz *g = ctx;
    int rc = gz_decode(&g->decoder, slot->data, VP_INFLATE_WINDOW, &slot->n);
    slot->raw_done = g->in->raw_done;
    return rc;
}

/* Starts to inflate at the first read, so that examining first bytes of files starts no thread. */
static int gz_begin(gz *g)
{
    if (g->threaded && !g->ring) {
        int rc = gz_ring_start(&g->ring, gz_fill_slot, g);
        if (rc != VP_EBUSY)
            return rc;
        g->threaded = false;
    }
    if (!g->threaded && !g->slot.data && !(g->slot.data = rd_chunk_new(VP_INFLATE_WINDOW)))
        return vp_fail(VP_ENOMEM, "out of memory for gzip");
    return 0;
}

static int gz_next(rd_stream *s, char **p, size_t *n)
{
    gz *g = (gz *)s;
    gz_slot *slot = &g->slot;
    VP_TRY(gz_begin(g));
    int rc = g->ring ? gz_ring_next(g->ring, &slot) : gz_fill_slot(g, slot);
    if (rc > 0) {
        s->raw_done = slot->raw_done;
        *p = slot->data;
        *n = slot->n;
    } else if (rc == 0) {
        s->damage = g->decoder.damage;
    }
    return rc;
}

static int gz_fill(rd_stream *s, char *p, size_t cap, size_t *n)
{
    gz *g = (gz *)s;
    int rc = gz_decode(&g->decoder, p, cap < VP_INFLATE_WINDOW ? cap : VP_INFLATE_WINDOW, n);
    s->raw_done = g->in->raw_done;
    if (rc == 0)
        s->damage = g->decoder.damage;
    return rc;
}

static void gz_close(rd_stream *s)
{
    gz *g = (gz *)s;
    atomic_store(&g->decoder.stop, true);
    gz_ring_stop(g->ring);
    gz_decoder_free(&g->decoder);
    rd_chunk_free(g->slot.data);
    rd_stream_close(&g->in);
    vp_free(g);
}

int gz_stream_backend(rd_stream **out, rd_stream *in, bool threaded, int backend)
{
    VP_CLEANUP(rd_stream_close) rd_stream *owned = in;
    const gz_backend *isal = gz_backend_isal();
    if (backend == 2 && !isal)
        return vp_fail(VP_EUNSUPPORTED, "ISA-L is not built in");
    gz *g = vp_calloc(1, sizeof *g);
    if (!g)
        return vp_fail(VP_ENOMEM, "out of memory for gzip");
    int rc = gz_decoder_init(&g->decoder, in, backend != 1 && isal ? isal : gz_backend_zlib());
    if (rc < 0) {
        vp_free(g);
        return rc;
    }
    g->base = (rd_stream){.next = gz_next,
                          .fill = gz_fill,
                          .close = gz_close,
                          .total = -1,
                          .raw_total = in->raw_total};
    g->in = in;
    g->threaded = threaded && in->total >= THREAD_FROM;
    owned = NULL;
    *out = &g->base;
    return 0;
}

int gz_stream(rd_stream **out, rd_stream *in, bool threaded)
{
    return gz_stream_backend(out, in, threaded, 0);
}
