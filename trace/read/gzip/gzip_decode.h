/* Decoder of the gzip file format (RFC 1952) around a backend: headers, CRC and length of every
 * member, consecutive members, zero padding at the end. Reads compressed bytes from a stream.
 * gzip.c owns the decoder and uses it from one thread at a time. */
#ifndef VP_READ_GZIP_DECODE_H
#define VP_READ_GZIP_DECODE_H

#include <stdatomic.h>

#include "trace/read/bytes/byte_stream.h"
#include "trace/read/gzip/gzip_backend.h"

typedef enum gz_phase { GZ_HEADER, GZ_BODY, GZ_TRAILER, GZ_NEXT, GZ_DONE } gz_phase;

typedef struct gz_decoder {
    rd_stream *in; /* borrowed */
    const gz_backend *backend;
    void *state;
    unsigned char *p, *end; /* compressed bytes not yet consumed */
    unsigned char back[GZ_BACK_MAX];
    size_t back_n, back_i; /* bytes returned by the backend, read before p */
    int64_t received;      /* compressed bytes read up to `end` */
    gz_phase phase;
    uint32_t header_crc, crc, length; /* of the current member */
    int64_t produced;                 /* of all members */
    bool checksum_failed; /* the data was complete, but its checksum or length is wrong */
    vp_error damage;      /* why it ended early; code 0: it did not */
    atomic_bool stop;     /* set by another thread; decoding ends with VP_ECANCELLED */
} gz_decoder;

/* in is borrowed. VP_ENOMEM. */
int gz_decoder_init(gz_decoder *d, rd_stream *in, const gz_backend *backend);
void gz_decoder_free(gz_decoder *d);
/* Inflates up to cap bytes. 1: *n > 0 bytes; 0: the end, see damage; < 0: not one good byte
 * (VP_ECORRUPT), VP_ELIMIT, or a failure of the stream below. */
int gz_decode(gz_decoder *d, char *dst, size_t cap, size_t *n);

#endif
