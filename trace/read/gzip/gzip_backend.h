/* What the gzip reader needs from a library: raw inflate and CRC-32. The gzip framing (headers,
 * CRC, lengths, several members) is implemented once for both backends, so damage is detected in
 * the same way in every build. The caller destroys the state that it created. */
#ifndef VP_READ_GZIP_BACKEND_H
#define VP_READ_GZIP_BACKEND_H

#include <stddef.h>
#include <stdint.h>

/* Maximum number of bytes after the end of a deflate stream that a backend may have consumed. */
#define GZ_BACK_MAX 8

typedef struct gz_io {
    unsigned char *in; /* writable for the libraries' types; they only read */
    size_t in_n;
    unsigned char *out;
    size_t out_n;
} gz_io;

typedef enum gz_step { GZ_MORE, GZ_END, GZ_BROKEN } gz_step;

typedef struct gz_backend {
    void *(*create)(void); /* NULL when out of memory */
    void (*destroy)(void *state);
    void (*reset)(void *state); /* prepares for a new deflate stream */
    /* Inflates what it can and advances all four members of io. Also called without input, because
     * a backend may hold output back. GZ_MORE: needs more input or output space. */
    gz_step (*run)(void *state, gz_io *io);
    /* After GZ_END: copies the consumed bytes that belong to what follows; returns their number. */
    size_t (*give_back)(void *state, unsigned char bytes[GZ_BACK_MAX]);
    uint32_t (*crc)(uint32_t crc, const void *p, size_t n); /* start with 0 */
} gz_backend;

const gz_backend *gz_backend_zlib(void);
/* NULL if ISA-L is not built in. */
const gz_backend *gz_backend_isal(void);

#endif
