/* Reader and writer of the protobuf wire format, shared by readers, exporters and the recorder.
 * Source: https://protobuf.dev/programming-guides/encoding (varint 0, fixed64 1, length-delimited
 * 2, fixed32 5; groups 3 and 4 are refused). Nothing is copied: slices point into the input. */
#ifndef VP_BASE_PB_H
#define VP_BASE_PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

enum { VP_PB_VARINT = 0, VP_PB_FIXED64 = 1, VP_PB_LEN = 2, VP_PB_FIXED32 = 5 };

/* The tag before a field's content; one byte for fields below 16. */
#define VP_PB_TAG(field, wire) ((field) << 3 | (wire))

typedef struct vp_pb {
    const uint8_t *p, *end;
} vp_pb;

typedef struct vp_pb_field {
    uint32_t number;
    uint32_t wire;
    uint64_t u;  /* varint, fixed64, fixed32 */
    vp_str data; /* length-delimited; else empty */
} vp_pb_field;

static inline vp_pb vp_pb_of(vp_str s)
{
    const uint8_t *p = (const uint8_t *)s.p;
    return (vp_pb){p, s.n ? p + s.n : p}; /* C forbids adding even 0 to NULL */
}

/* Reads a varint of at most 10 bytes; false at the end of input or if it is longer. */
static inline bool vp_pb_varint(vp_pb *r, uint64_t *out)
{
    const uint8_t *p = r->p;
    uint64_t v = 0;
    if (p < r->end && *p < 0x80) {
        *out = *p;
        r->p = p + 1;
        return true;
    }
    for (unsigned shift = 0; shift < 70 && p < r->end; shift += 7) {
        uint8_t c = *p++;
        if (shift == 63 && c > 1)
            return false;
        v |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            *out = v;
            r->p = p;
            return true;
        }
    }
    return false;
}

/* The same, faster for long numbers: decodes eight bytes at once if the input has as many. */
static inline bool vp_pb_varint_long(vp_pb *r, uint64_t *out)
{
    uint64_t v, last;
    if (r->end - r->p < 8)
        return vp_pb_varint(r, out);
    memcpy(&v, r->p, 8);
    last = ~v & UINT64_C(0x8080808080808080);
    if (!last)
        return vp_pb_varint(r, out);
    r->p += ((unsigned)__builtin_ctzll(last) >> 3) + 1;
    v &= (last ^ (last - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
    v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x7f007f007f007f00)) >> 1;
    v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x3fff00003fff0000)) >> 2;
    *out = (v & UINT64_C(0x0fffffff)) | (v & UINT64_C(0x0fffffff00000000)) >> 4;
    return true;
}

/* Reads a length-delimited field with this one-byte tag and a length below 128, which is typical of
 * small messages in long lists. false: another field follows, and nothing is consumed. */
static inline bool vp_pb_take_short(vp_pb *r, uint8_t tag, vp_str *content)
{
    if (r->end - r->p < 2 || r->p[0] != tag || r->p[1] > r->end - r->p - 2 || r->p[1] > 127)
        return false;
    *content = (vp_str){(const char *)r->p + 2, r->p[1]};
    r->p += 2 + r->p[1];
    return true;
}

/* Reads the next field. 1: a field; 0: end of input; VP_ECORRUPT (not recorded): damaged, and r->p
 * points to the start of the damaged field. */
int vp_pb_next(vp_pb *r, vp_pb_field *f);

/* Writers. A nested message is written into its own buffer and appended with vp_pb_put_len. */
int vp_pb_put_varint(vp_buf *b, uint64_t v);
int vp_pb_put_u64(vp_buf *b, uint32_t field, uint64_t v);
int vp_pb_put_fixed64(vp_buf *b, uint32_t field, uint64_t v);
int vp_pb_put_double(vp_buf *b, uint32_t field, double v);
int vp_pb_put_len(vp_buf *b, uint32_t field, vp_str data);

#endif
