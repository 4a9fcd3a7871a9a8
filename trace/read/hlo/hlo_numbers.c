#include "trace/read/hlo/hlo_numbers.h"

void hlo_add_number(hlo_numbers *l, uint64_t v)
{
    if (l->n == HLO_NUMBERS_MAX)
        l->beyond = true;
    else
        l->v[l->n++] = (int64_t)v;
}

void hlo_add_numbers(hlo_numbers *l, const vp_pb_field *f)
{
    uint64_t v;
    if (f->wire == VP_PB_VARINT)
        hlo_add_number(l, f->u);
    vp_pb r = vp_pb_of(f->data);
    while (f->wire == VP_PB_LEN && r.p < r.end && vp_pb_varint(&r, &v))
        hlo_add_number(l, v);
}

void hlo_numbers_of(hlo_numbers *out, vp_str message, uint32_t field)
{
    vp_pb r = vp_pb_of(message);
    vp_pb_field f;
    *out = (hlo_numbers){.n = 0};
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == field)
            hlo_add_numbers(out, &f);
}
