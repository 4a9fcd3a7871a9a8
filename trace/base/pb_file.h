/* A protobuf message written to a file front to back, through one buffer, though its parts stand
 * behind their lengths: room is left for a length, which is filled in when the part is complete.
 * Lengths take five bytes, which readers accept. Who opens it frees it; the descriptor stays the
 * caller's. Included by the recorder's encoders. */
#ifndef VP_BASE_PB_FILE_H
#define VP_BASE_PB_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PF_BUFFER (256u << 10)

typedef struct pb_file {
    int fd;
    char *out; /* PF_BUFFER bytes */
    size_t n;
    uint64_t flushed; /* bytes in the file */
} pb_file;

/* The descriptor's position is 0, and it can be written at any offset. */
int pf_open(pb_file *f, int fd);
void pf_free(pb_file *f);
int pf_put(pb_file *f, const void *p, size_t n);
/* The tag of a part (one byte) and room for its length. *at is for pf_end. */
int pf_begin(pb_file *f, char tag, uint64_t *at);
int pf_end(pb_file *f, uint64_t at);
int pf_flush(pb_file *f);

/* Up to n bytes (n small) that the caller writes itself, then adds to ->n; NULL: there is no room
 * before the next flush. */
static inline char *pf_room(pb_file *f, size_t n)
{
    return n < PF_BUFFER - f->n ? f->out + f->n : NULL;
}

/* Writes up to 10 bytes, of which it returns the end. Numbers below 2^56 without a branch on their
 * length: seven bits a byte are spread by halves, and marked but for the last. */
static inline char *pf_varint(char *p, uint64_t v)
{
    if (v < 0x80) {
        *p = (char)v;
        return p + 1;
    }
    if (v >> 56 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
        for (; v >= 0x80; v >>= 7)
            *p++ = (char)(v | 0x80);
        *p++ = (char)v;
        return p;
    }
    unsigned bytes = (70u - (unsigned)__builtin_clzll(v)) / 7u;
    v = (v & UINT64_C(0x00fffffff0000000)) << 4 | (v & UINT64_C(0x000000000fffffff));
    v = (v & UINT64_C(0x0fffc0000fffc000)) << 2 | (v & UINT64_C(0x00003fff00003fff));
    v = (v & UINT64_C(0x3f803f803f803f80)) << 1 | (v & UINT64_C(0x007f007f007f007f));
    v |= UINT64_C(0x8080808080808080) & ((UINT64_C(1) << 8 * (bytes - 1)) - 1);
    memcpy(p, &v, sizeof v);
    return p + bytes;
}

#endif
