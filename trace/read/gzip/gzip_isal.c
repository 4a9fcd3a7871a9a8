/* Inflating by ISA-L. */
#include "trace/read/gzip/gzip_backend.h"

#ifdef VP_HAVE_ISAL

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include "trace/base/mem.h"

static void *isal_create(void)
{
    /* Zeroed: with damaged data ISA-L copies bytes that it never wrote (found by fuzzing). */
    struct inflate_state *s = vp_calloc(1, sizeof *s);
    if (s)
        isal_inflate_init(s);
    return s;
}

static void isal_destroy(void *state)
{
    vp_free(state);
}

static void isal_reset(void *state)
{
    struct inflate_state *s = state;
    isal_inflate_reset(s);
    s->crc_flag = ISAL_DEFLATE;
}

/* For an invalid code, ISA-L counts bytes that it did not write, up to the length that 10 bits can
 * encode; their content is undefined. This many bytes are discarded. */
#define UNWRITTEN_MAX 1024u

static gz_step isal_run(void *state, gz_io *io)
{
    struct inflate_state *s = state;
    s->next_in = io->in;
    s->avail_in = (uint32_t)io->in_n;
    s->next_out = io->out;
    s->avail_out = (uint32_t)io->out_n;
    int rc = isal_inflate(s);
    size_t got = io->out_n - s->avail_out;
    *io = (gz_io){s->next_in, s->avail_in, s->next_out, s->avail_out};
    if (rc < 0) {
        got = got < UNWRITTEN_MAX ? got : UNWRITTEN_MAX;
        io->out -= got;
        io->out_n += got;
        return GZ_BROKEN;
    }
    return s->block_state == ISAL_BLOCK_FINISH ? GZ_END : GZ_MORE;
}

/* ISA-L reads up to 64 bits ahead. The whole bytes among them follow the deflate stream. */
static size_t isal_give_back(void *state, unsigned char bytes[GZ_BACK_MAX])
{
    struct inflate_state *s = state;
    unsigned bits = s->read_in_length > 0 ? (unsigned)s->read_in_length : 0;
    uint64_t ahead = s->read_in >> (bits % 8);
    size_t n = bits / 8;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(ahead >> (8 * i));
    return n;
}

static uint32_t isal_crc(uint32_t crc, const void *p, size_t n)
{
    return crc32_gzip_refl(crc, p, n);
}

const gz_backend *gz_backend_isal(void)
{
    static const gz_backend b = {isal_create, isal_destroy,   isal_reset,
                                 isal_run,    isal_give_back, isal_crc};
    return &b;
}

#else

const gz_backend *gz_backend_isal(void)
{
    return 0;
}

#endif
