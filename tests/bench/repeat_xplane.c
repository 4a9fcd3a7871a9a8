/* repeat_xplane IN OUT N: a larger XSpace out of a real one. Every line's events are repeated N
 * times, each round moved behind the one before, on both clocks; metadata stay as they are. */
#include <stdio.h>
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"

static uint64_t offset_stat; /* id of device_offset_ps in the plane at hand */

static void die(const char *what)
{
    fprintf(stderr, "repeat_xplane: %s\n", what);
    exit(1);
}

static void copy_field(vp_buf *out, const vp_pb_field *f)
{
    if (f->wire == VP_PB_VARINT)
        vp_pb_put_u64(out, f->number, f->u);
    else if (f->wire == VP_PB_FIXED64)
        vp_pb_put_fixed64(out, f->number, f->u);
    else
        vp_pb_put_len(out, f->number, f->data);
}

static uint64_t field_u(vp_str message, uint32_t number)
{
    vp_pb r = vp_pb_of(message);
    vp_pb_field f;
    uint64_t v = 0;
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == number)
            v = f.u;
    return v;
}

static void put_stat(vp_buf *out, vp_str stat, uint64_t shift)
{
    vp_buf moved;
    vp_pb r = vp_pb_of(stat);
    vp_pb_field f;
    if (!offset_stat || field_u(stat, 1) != offset_stat) {
        vp_pb_put_len(out, 4, stat);
        return;
    }
    vp_buf_init(&moved, 1024);
    while (vp_pb_next(&r, &f) > 0)
        vp_pb_put_u64(&moved, f.number, f.number == 1 ? f.u : f.u + shift);
    vp_pb_put_len(out, 4, vp_buf_view(&moved));
    vp_buf_free(&moved);
}

static void put_event(vp_buf *out, vp_str event, uint64_t shift)
{
    vp_buf moved;
    vp_pb r = vp_pb_of(event);
    vp_pb_field f;
    vp_buf_init(&moved, 1 << 20);
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number == 2)
            vp_pb_put_u64(&moved, 2, f.u + shift);
        else if (f.number == 4)
            put_stat(&moved, f.data, shift);
        else
            copy_field(&moved, &f);
    }
    vp_pb_put_len(out, 4, vp_buf_view(&moved));
    vp_buf_free(&moved);
}

static void put_line(vp_buf *out, vp_str line, long n, uint64_t span)
{
    vp_buf b;
    vp_pb_field f;
    vp_buf_init(&b, (size_t)1 << 40);
    for (vp_pb r = vp_pb_of(line); vp_pb_next(&r, &f) > 0;)
        if (f.number != 4)
            copy_field(&b, &f);
    for (long i = 0; i < n; i++)
        for (vp_pb r = vp_pb_of(line); vp_pb_next(&r, &f) > 0;)
            if (f.number == 4)
                put_event(&b, f.data, span * (uint64_t)i);
    vp_pb_put_len(out, 3, vp_buf_view(&b));
    vp_buf_free(&b);
}

static void find_offset_stat(vp_str plane)
{
    vp_pb_field f, g;
    offset_stat = 0;
    for (vp_pb r = vp_pb_of(plane); vp_pb_next(&r, &f) > 0;)
        for (vp_pb e = vp_pb_of(f.number == 5 ? f.data : VP_STR_NONE); vp_pb_next(&e, &g) > 0;)
            for (vp_pb m = vp_pb_of(g.number == 2 ? g.data : VP_STR_NONE);;) {
                vp_pb_field h;
                if (vp_pb_next(&m, &h) <= 0)
                    break;
                if (h.number == 2 && vp_str_eq(h.data, VP_STR("device_offset_ps")))
                    offset_stat = field_u(f.data, 1);
            }
}

static uint64_t last_end(vp_str plane)
{
    vp_pb_field f, g;
    uint64_t end = 0;
    for (vp_pb r = vp_pb_of(plane); vp_pb_next(&r, &f) > 0;)
        for (vp_pb l = vp_pb_of(f.number == 3 ? f.data : VP_STR_NONE); vp_pb_next(&l, &g) > 0;)
            if (g.number == 4) {
                uint64_t e = field_u(g.data, 2) + field_u(g.data, 3);
                end = e > end && e < UINT64_C(1) << 60 ? e : end;
            }
    return end;
}

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        die("cannot open the input");
    *n = (size_t)ftell(f);
    rewind(f);
    char *p = vp_malloc(*n);
    if (!p || fread(p, 1, *n, f) != *n)
        die("cannot read the input");
    fclose(f);
    return p;
}

int main(int argc, char **argv)
{
    size_t n;
    vp_pb_field f, g;
    uint64_t span = 0;
    if (argc != 4)
        die("usage: repeat_xplane IN OUT N");
    char *in = slurp(argv[1], &n);
    FILE *out = fopen(argv[2], "wb");
    vp_str all = {in, n};
    if (!out)
        die("cannot write the output");
    for (vp_pb r = vp_pb_of(all); vp_pb_next(&r, &f) > 0;)
        if (f.number == 1 && last_end(f.data) > span)
            span = last_end(f.data);
    for (vp_pb r = vp_pb_of(all); vp_pb_next(&r, &f) > 0;) {
        vp_buf plane, top;
        vp_buf_init(&plane, (size_t)1 << 40);
        vp_buf_init(&top, (size_t)1 << 40);
        find_offset_stat(f.number == 1 ? f.data : VP_STR_NONE);
        for (vp_pb p = vp_pb_of(f.number == 1 ? f.data : VP_STR_NONE); vp_pb_next(&p, &g) > 0;) {
            if (g.number == 3)
                put_line(&plane, g.data, atol(argv[3]), span + 1000000);
            else
                copy_field(&plane, &g);
        }
        if (f.number == 1)
            vp_pb_put_len(&top, 1, vp_buf_view(&plane));
        else
            copy_field(&top, &f);
        if (top.status < 0 || fwrite(top.p, 1, top.n, out) != top.n)
            die("cannot write the output");
        vp_buf_free(&plane);
        vp_buf_free(&top);
    }
    vp_free(in);
    return fclose(out) ? 1 : 0;
}
