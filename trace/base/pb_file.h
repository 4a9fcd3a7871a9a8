/* Writes a protobuf message to a file in one pass, although lengths precede their parts. A length
 * gets five bytes, which readers accept, and is filled in when its part is complete. The file is
 * written in whole buffers, which takes three quarters of the time on common file systems. The
 * caller frees the pb_file and owns the descriptor. Failures: VP_EIO, VP_ENOSPC, VP_ELIMIT,
 * VP_ENOMEM. */
#ifndef VP_BASE_PB_FILE_H
#define VP_BASE_PB_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PF_BUFFER (256u << 10)
#define PF_ROOM (16u << 10) /* space after the buffer */

typedef struct pb_file {
    int fd;
    char *out;        /* PF_BUFFER + PF_ROOM bytes */
    size_t n;         /* below PF_BUFFER between calls */
    uint64_t flushed; /* bytes in the file */
} pb_file;

/* Starts a file. The descriptor is at position 0 and supports writes at any offset. */
int pf_open(pb_file *f, int fd);
void pf_free(pb_file *f);
int pf_put(pb_file *f, const void *p, size_t n);
/* Writes the one-byte tag of a part and reserves its length. Pass *at to pf_end. */
int pf_begin(pb_file *f, char tag, uint64_t *at);
int pf_end(pb_file *f, uint64_t at);
/* Writes a full buffer to the file. */
int pf_drain(pb_file *f);
/* Writes all remaining bytes to the file; nothing may follow. */
int pf_flush(pb_file *f);

/* Space in which the caller may write up to PF_ROOM bytes. */
static inline char *pf_room(pb_file *f)
{
    return f->out + f->n;
}
/* Commits the bytes that the caller wrote to pf_room, up to `end`. */
static inline int pf_wrote(pb_file *f, const char *end)
{
    f->n = (size_t)(end - f->out);
    return f->n < PF_BUFFER ? 0 : pf_drain(f);
}

/* Writes a varint of up to 10 bytes and returns its end. Numbers below 2^56 need no branch on their
 * length: three steps spread groups of seven bits over the bytes, and every byte but the last gets
 * its continuation bit. */
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
