#include "trace/base/pb.h"

#include "trace/base/err.h"

int vp_pb_next(vp_pb *r, vp_pb_field *f)
{
    vp_pb at = *r;
    uint64_t tag;
    if (at.p >= at.end)
        return 0;
    if (!vp_pb_varint(&at, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return VP_ECORRUPT;
    f->number = (uint32_t)(tag >> 3);
    f->wire = tag & 7;
    f->data = VP_STR_NONE;
    size_t left;
    switch (f->wire) {
    case VP_PB_VARINT:
        if (!vp_pb_varint(&at, &f->u))
            return VP_ECORRUPT;
        break;
    case VP_PB_FIXED64:
        if (at.end - at.p < 8)
            return VP_ECORRUPT;
        memcpy(&f->u, at.p, 8);
        at.p += 8;
        break;
    case VP_PB_FIXED32:
        if (at.end - at.p < 4)
            return VP_ECORRUPT;
        f->u = 0;
        memcpy(&f->u, at.p, 4);
        at.p += 4;
        break;
    case VP_PB_LEN:
        if (!vp_pb_varint(&at, &f->u))
            return VP_ECORRUPT;
        left = (size_t)(at.end - at.p);
        if (f->u > left)
            return VP_ECORRUPT;
        f->data = (vp_str){(const char *)at.p, (size_t)f->u};
        at.p += f->u;
        break;
    default:
        return VP_ECORRUPT;
    }
    *r = at;
    return 1;
}

int vp_pb_put_varint(vp_buf *b, uint64_t v)
{
    unsigned char tmp[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        tmp[n++] = (unsigned char)(v | 0x80);
    tmp[n++] = (unsigned char)v;
    return vp_buf_put(b, tmp, n);
}

int vp_pb_put_u64(vp_buf *b, uint32_t field, uint64_t v)
{
    VP_TRY(vp_pb_put_varint(b, VP_PB_TAG((uint64_t)field, VP_PB_VARINT)));
    return vp_pb_put_varint(b, v);
}

int vp_pb_put_fixed64(vp_buf *b, uint32_t field, uint64_t v)
{
    VP_TRY(vp_pb_put_varint(b, VP_PB_TAG((uint64_t)field, VP_PB_FIXED64)));
    return vp_buf_put(b, &v, 8);
}

int vp_pb_put_double(vp_buf *b, uint32_t field, double v)
{
    uint64_t u;
    memcpy(&u, &v, 8);
    return vp_pb_put_fixed64(b, field, u);
}

int vp_pb_put_len(vp_buf *b, uint32_t field, vp_str data)
{
    VP_TRY(vp_pb_put_varint(b, VP_PB_TAG((uint64_t)field, VP_PB_LEN)));
    VP_TRY(vp_pb_put_varint(b, data.n));
    return vp_buf_str(b, data);
}
