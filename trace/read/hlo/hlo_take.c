/* Decodes fields of a message, and repeated fields. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/hlo/hlo_reader.h"

static void set_member(char *row, const hlo_field *f, const vp_pb_field *v)
{
    bool text = v->wire == VP_PB_LEN;
    if (f->as == HLO_AS_TEXT && text)
        memcpy(row + f->at, &v->data, sizeof v->data);
    else if (f->as == HLO_AS_NUMBER && !text)
        memcpy(row + f->at, &v->u, sizeof v->u);
    else if (f->as == HLO_AS_BOOL && !text)
        *(bool *)(row + f->at) = v->u != 0;
    else if (f->as == HLO_AS_INT && !text)
        *(int32_t *)(void *)(row + f->at) = v->u <= INT32_MAX ? (int32_t)v->u : 0;
}

int hlo_take(void *row, vp_str message, const hlo_field *fields, const char *what)
{
    vp_pb r = vp_pb_of(message);
    vp_pb_field v;
    int rc;
    while ((rc = vp_pb_next(&r, &v)) > 0)
        for (const hlo_field *f = fields; f->number; f++)
            if (f->number == v.number)
                set_member(row, f, &v);
    return rc < 0 ? vp_fail(VP_ECORRUPT, "damaged HLO proto: %s ends too early", what) : 0;
}

int hlo_put_number(hlo_reader *r, int64_t v)
{
    VP_TRY(HLO_GROW(r, numbers, number));
    r->p->numbers[r->p->number_count++] = v;
    return 0;
}

static int hlo_add_id(hlo_reader *r, int64_t v)
{
    VP_TRY(vp_grow(&r->ids, &r->ids_cap, r->p->link_count + 1, sizeof v, VP_HLO_INSTRUCTIONS_MAX));
    VP_TRY(HLO_GROW(r, links, link));
    r->p->links[r->p->link_count] = HLO_NONE;
    r->ids[r->p->link_count++] = v;
    return 0;
}

/* Calls `put` for every number of a repeated field. */
static int each_number(hlo_reader *r, vp_str message, uint32_t field,
                       int (*put)(hlo_reader *, int64_t))
{
    vp_pb in = vp_pb_of(message);
    vp_pb_field f;
    while (vp_pb_next(&in, &f) > 0) {
        uint64_t v;
        if (f.number != field)
            continue;
        if (f.wire == VP_PB_VARINT)
            VP_TRY(put(r, (int64_t)f.u));
        vp_pb packed = vp_pb_of(f.data);
        while (f.wire == VP_PB_LEN && vp_pb_varint(&packed, &v))
            VP_TRY(put(r, (int64_t)v));
    }
    return 0;
}

int hlo_take_numbers(hlo_reader *r, vp_str message, uint32_t field, hlo_span *out)
{
    out->first = (uint32_t)r->p->number_count;
    VP_TRY(each_number(r, message, field, hlo_put_number));
    out->count = (uint32_t)r->p->number_count - out->first;
    return 0;
}

int hlo_take_ids(hlo_reader *r, vp_str message, uint32_t field, hlo_span *out)
{
    out->first = (uint32_t)r->p->link_count;
    VP_TRY(each_number(r, message, field, hlo_add_id));
    out->count = (uint32_t)r->p->link_count - out->first;
    return 0;
}

int hlo_each(hlo_reader *r, vp_str message, uint32_t field, int (*each)(hlo_reader *, vp_str))
{
    vp_pb in = vp_pb_of(message);
    vp_pb_field f;
    int rc;
    while ((rc = vp_pb_next(&in, &f)) > 0)
        if (f.number == field && f.wire == VP_PB_LEN)
            VP_TRY(each(r, f.data));
    return rc < 0 ? vp_fail(VP_ECORRUPT, "damaged HLO proto: a list ends too early") : 0;
}
