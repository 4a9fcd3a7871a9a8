#include "trace/read/gzip/gzip_decode.h"

#include "trace/base/limits.h"

enum { FLAG_HCRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAG_RESERVED = 0xe0 };
#define METHOD_DEFLATE 8

int gz_decoder_init(gz_decoder *d, rd_stream *in, const gz_backend *backend)
{
    *d = (gz_decoder){.in = in, .backend = backend, .phase = GZ_HEADER};
    d->state = backend->create();
    if (!d->state)
        return vp_fail(VP_ENOMEM, "out of memory for gzip");
    return 0;
}

void gz_decoder_free(gz_decoder *d)
{
    if (d->state)
        d->backend->destroy(d->state);
    d->state = NULL;
}

static int64_t gz_compressed_offset(const gz_decoder *d)
{
    return d->received - (d->end - d->p) - (int64_t)(d->back_n - d->back_i);
}

/* Ends the stream at the current byte of the compressed file. */
static int gz_damaged(gz_decoder *d, const char *what)
{
    int64_t at = gz_compressed_offset(d);
    if (d->in->damage.code) { /* the stream below is damaged, which is the cause */
        d->damage = d->in->damage;
        return vp_fail_copy(&d->damage);
    }
    vp_fail(VP_ECORRUPT, "%s, at byte %lld of the compressed file", what, (long long)at);
    vp_fail_at(VP_ECORRUPT, NULL, -1, at);
    d->damage = *vp_error_last();
    return VP_ECORRUPT;
}

/* Reads more compressed bytes. 1; 0: the stream below has ended; < 0: failed. */
static int gz_refill(gz_decoder *d)
{
    char *p;
    size_t n;
    if (atomic_load_explicit(&d->stop, memory_order_relaxed))
        return vp_fail(VP_ECANCELLED, "stopped");
    int rc = d->in->next(d->in, &p, &n);
    if (rc <= 0)
        return rc;
    d->p = (unsigned char *)p;
    d->end = d->p + n;
    d->received += (int64_t)n;
    return 1;
}

static int gz_take_byte(gz_decoder *d, unsigned char *c)
{
    if (d->back_i < d->back_n) {
        *c = d->back[d->back_i++];
        return 1;
    }
    while (d->p == d->end) {
        int rc = gz_refill(d);
        if (rc <= 0)
            return rc;
    }
    *c = *d->p++;
    return 1;
}

/* Reads a byte of the header; a missing byte is damage. */
static int header_byte(gz_decoder *d, unsigned char *c)
{
    int rc = gz_take_byte(d, c);
    if (rc == 0)
        return gz_damaged(d, "gzip data end inside a header: the file is cut off");
    if (rc > 0)
        d->header_crc = d->backend->crc(d->header_crc, c, 1);
    return rc;
}

static int header_u16(gz_decoder *d, unsigned *v)
{
    unsigned char lo, hi;
    VP_TRY(header_byte(d, &lo));
    VP_TRY(header_byte(d, &hi));
    *v = lo | (unsigned)hi << 8;
    return 0;
}

static int skip_text(gz_decoder *d)
{
    unsigned char c;
    do
        VP_TRY(header_byte(d, &c));
    while (c);
    return 0;
}

static int check_header_crc(gz_decoder *d)
{
    uint32_t have = d->header_crc & 0xffff;
    unsigned want;
    VP_TRY(header_u16(d, &want));
    return want == have ? 0 : gz_damaged(d, "wrong checksum of a gzip header");
}

static int read_header(gz_decoder *d)
{
    unsigned char h[10], c;
    unsigned extra;
    d->header_crc = 0;
    for (size_t i = 0; i < sizeof h; i++) {
        VP_TRY(header_byte(d, &h[i]));
        if ((i == 0 && h[0] != 0x1f) || (i == 1 && h[1] != 0x8b))
            return gz_damaged(d, d->produced ? "trailing garbage after the gzip data"
                                             : "not a gzip file");
    }
    if (h[2] != METHOD_DEFLATE || h[3] & FLAG_RESERVED)
        return gz_damaged(d, "unsupported method or flags in a gzip header");
    if (h[3] & FLAG_EXTRA) {
        VP_TRY(header_u16(d, &extra));
        while (extra--)
            VP_TRY(header_byte(d, &c));
    }
    if (h[3] & FLAG_NAME)
        VP_TRY(skip_text(d));
    if (h[3] & FLAG_COMMENT)
        VP_TRY(skip_text(d));
    if (h[3] & FLAG_HCRC)
        VP_TRY(check_header_crc(d));
    d->backend->reset(d->state);
    d->crc = d->length = 0;
    d->phase = GZ_BODY;
    return 0;
}

/* Deflate cannot exceed 1,032:1; a higher ratio means that the library failed. */
static int check_ratio(const gz_decoder *d)
{
    if (d->produced / VP_GZIP_RATIO_MAX > gz_compressed_offset(d) + (int64_t)VP_READ_WINDOW)
        return vp_fail(VP_ELIMIT, "gzip data grow more than %d times", VP_GZIP_RATIO_MAX);
    return 0;
}

/* Inflates into dst until it is full, the member ends, or the input ends. */
static int gz_read_body(gz_decoder *d, char *dst, size_t cap, size_t *n)
{
    gz_io io = {d->p, (size_t)(d->end - d->p), (unsigned char *)dst, cap};
    gz_step step = d->backend->run(d->state, &io);
    bool moved = io.in != d->p;
    *n = cap - io.out_n;
    d->p = io.in;
    d->crc = d->backend->crc(d->crc, dst, *n);
    d->length += (uint32_t)*n;
    d->produced += (int64_t)*n;
    VP_TRY(check_ratio(d));
    if (step == GZ_BROKEN)
        return gz_damaged(d, "damaged gzip data");
    if (step == GZ_END) {
        d->back_n = d->backend->give_back(d->state, d->back);
        d->back_i = 0;
        d->phase = GZ_TRAILER;
        return 0;
    }
    if (*n || moved || !io.out_n)
        return 0;
    if (io.in_n)
        return gz_damaged(d, "damaged gzip data");
    int rc = gz_refill(d);
    return rc ? rc : gz_damaged(d, "gzip data end too early: the file is cut off");
}

static int trailer_u32(gz_decoder *d, uint32_t *v)
{
    *v = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned char c;
        int rc = gz_take_byte(d, &c);
        if (rc <= 0)
            return rc ? rc
                      : gz_damaged(d, "gzip data end before the checksum: the file is cut off");
        *v |= (uint32_t)c << (8 * i);
    }
    return 0;
}

static int read_trailer(gz_decoder *d)
{
    uint32_t crc, length;
    VP_TRY(trailer_u32(d, &crc));
    VP_TRY(trailer_u32(d, &length));
    d->checksum_failed = crc != d->crc || length != d->length;
    if (d->checksum_failed)
        return gz_damaged(d, crc != d->crc
                                 ? "wrong checksum of the gzip data: the data before it are damaged"
                                 : "wrong length of the gzip data: the data before it are damaged");
    d->phase = GZ_NEXT;
    return 0;
}

/* After a member: another one, zeros up to the end (tapes and some tools pad), or the end. */
static int read_next(gz_decoder *d)
{
    unsigned char c;
    bool padded = false;
    int rc;
    while ((rc = gz_take_byte(d, &c)) > 0 && c == 0)
        padded = true;
    VP_TRY(rc);
    if (rc == 0) {
        if (d->in->damage.code)
            d->damage = d->in->damage;
        d->phase = GZ_DONE;
        return 0;
    }
    if (padded)
        return gz_damaged(d, "trailing garbage after the gzip data");
    d->back[0] = c; /* first byte of the next header; `back` is empty here */
    d->back_n = 1;
    d->back_i = 0;
    d->phase = GZ_HEADER;
    return 0;
}

static int gz_advance(gz_decoder *d, char *dst, size_t cap, size_t *n)
{
    *n = 0;
    switch (d->phase) {
    case GZ_HEADER:
        return read_header(d);
    case GZ_BODY:
        return gz_read_body(d, dst, cap, n);
    case GZ_TRAILER:
        return read_trailer(d);
    case GZ_NEXT:
        return read_next(d);
    case GZ_DONE:
        break;
    }
    return 0;
}

int gz_decode(gz_decoder *d, char *dst, size_t cap, size_t *n)
{
    size_t filled = 0, got;
    while (filled < cap && d->phase != GZ_DONE) {
        int rc = gz_advance(d, dst + filled, cap - filled, &got);
        filled += got;
        if (rc < 0 && (!d->damage.code || !d->produced))
            return rc;
        if (rc < 0)
            d->phase = GZ_DONE;
    }
    *n = filled;
    return filled > 0;
}
