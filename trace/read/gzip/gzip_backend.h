/* What the gzip reader needs from a library: raw deflate and CRC-32. The gzip framing (headers,
 * CRC, lengths, several members) is ours and the same for both, so that what counts as damage does
 * not depend on how the program was built. */
#ifndef VP_READ_GZIP_BACKEND_H
#define VP_READ_GZIP_BACKEND_H

#include <stddef.h>
#include <stdint.h>

/* The most bytes behind the end of a deflate stream that a backend may have swallowed. */
#define GZ_BACK_MAX 8

typedef struct gz_io {
    unsigned char *in; /* libraries want it writable; they only read */
    size_t in_n;
    unsigned char *out;
    size_t out_n;
} gz_io;

typedef enum gz_step { GZ_MORE, GZ_END, GZ_BROKEN } gz_step;

typedef struct gz_backend {
    void *(*create)(void); /* NULL when out of memory */
    void (*destroy)(void *state);
    void (*reset)(void *state); /* a new deflate stream starts */
    /* Inflates what it can and advances all four of io. Called with no input, too: a backend may
     * hold output back. GZ_MORE: wants more input or more room. */
    gz_step (*run)(void *state, gz_io *io);
    /* After GZ_END: bytes of the input that belong to what follows; returns how many. */
    size_t (*give_back)(void *state, unsigned char bytes[GZ_BACK_MAX]);
    uint32_t (*crc)(uint32_t crc, const void *p, size_t n); /* starts with 0 */
} gz_backend;

const gz_backend *gz_backend_zlib(void);
/* NULL when ISA-L is not built in. */
const gz_backend *gz_backend_isal(void);

#endif
