/* A protobuf message written to a file front to back, through one buffer, though its parts stand
 * behind their lengths: room is left for a length, which is filled in when the part is complete.
 * Lengths take five bytes, which readers accept. The file is written in whole buffers, which file
 * systems take in three quarters of the time. Who opens it frees it; the descriptor stays the
 * caller's. */
#ifndef VP_BASE_PB_FILE_H
#define VP_BASE_PB_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PF_BUFFER (256u << 10)
#define PF_ROOM (16u << 10) /* behind it */

typedef struct pb_file {
    int fd;
    char *out;        /* PF_BUFFER + PF_ROOM bytes */
    size_t n;         /* below PF_BUFFER between calls */
    uint64_t flushed; /* bytes in the file */
} pb_file;

/* Begins a file whose descriptor is at position 0 and can be written at any offset. */
int pf_open(pb_file *f, int fd);
void pf_free(pb_file *f);
int pf_put(pb_file *f, const void *p, size_t n);
/* The tag of a part (one byte) and room for its length. *at is for pf_end. */
int pf_begin(pb_file *f, char tag, uint64_t *at);
int pf_end(pb_file *f, uint64_t at);
/* Writes a full buffer. */
int pf_drain(pb_file *f);
/* Everything; nothing more follows. */
int pf_flush(pb_file *f);

/* Where the caller writes up to PF_ROOM bytes itself, … */
static inline char *pf_room(pb_file *f)
{
    return f->out + f->n;
}
/* … which end here. */
static inline int pf_wrote(pb_file *f, const char *end)
{
    f->n = (size_t)(end - f->out);
    return f->n < PF_BUFFER ? 0 : pf_drain(f);
}

/* Writes a varint, up to 10 bytes, and returns its end. Numbers below 2^56 take no branch on their
 * length: groups of seven bits are spread over the bytes by halves, and every byte but the last
 * gets the bit that says that more follow. */
static inline char *pf_varint(char *p, uint64_t v)
{
    if (v >> 56 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
        for (; v >= 0x80; v >>= 7)
            *p++ = (char)(v | 0x80);
        *p++ = (char)v;
        return p;
    }
    unsigned top = 63u ^ (unsigned)__builtin_clzll(v | 1);
    unsigned bytes = (9 * top + 73) / 64; /* top / 7 + 1 */
    v += (v & UINT64_C(0x00fffffff0000000)) * 15;
    v += (v & UINT64_C(0x0fffc0000fffc000)) * 3;
    v += v & UINT64_C(0x3f803f803f803f80);
    v |= UINT64_C(0x0080808080808080) >> (64 - 8 * bytes);
    memcpy(p, &v, sizeof v);
    return p + bytes;
}

#endif
