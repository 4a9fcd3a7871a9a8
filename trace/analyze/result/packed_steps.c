#include "trace/analyze/result/packed_steps.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/pb_file.h"
#include "trace/base/thread.h"
#include "trace/read/bytes/packed_event.h"

/* Range of a section in a row. */
static const struct place {
    size_t offset, figures;
} places[STEP_SECTIONS] = {
    [STEP_BREAKDOWN] = {offsetof(vp_step_device, breakdown), STEP_BREAKDOWN_FIGURES},
    [STEP_CAUSES] = {offsetof(vp_step_device, cause_ps), VP_CAUSES},
    [STEP_CELLS] = {offsetof(vp_step_device, cell_ps), STEP_CELLS_FIGURES},
};

static_assert(STEP_BREAKDOWN_FIGURES <= STEP_FIGURES_MAX && VP_CAUSES <= STEP_FIGURES_MAX &&
                  STEP_CELLS_FIGURES <= STEP_FIGURES_MAX,
              "a bit for each figure");
static_assert(offsetof(vp_step_device, peak_ps) ==
                  offsetof(vp_step_device, cell_ps) + VP_CELLS * sizeof(int64_t),
              "cells and the peak stand side by side");

/* A row of a section: 16 bits that tell which figures are not 0, and those figures. Most are
 * multiples of the clock's resolution. */
#define RAW 0 /* a value of no other figure: 64 bits follow */
#define FIGURE_BYTES 20
#define ROW_BYTES (sizeof(uint16_t) + STEP_FIGURES_MAX * FIGURE_BYTES)

/* Fewer rows are unpacked faster than another thread starts. */
#define UNPACK_ALONE 2000

static char *pack_figure(char *p, int64_t v)
{
    if (v > 0 && v % SINK_PACKED_STEP_PS == 0)
        return pf_varint(p, (uint64_t)(v / SINK_PACKED_STEP_PS) << 1 | 1);
    if (v > -(INT64_C(1) << 61) && v < INT64_C(1) << 61)
        return pf_varint(p, ((uint64_t)v << 1 ^ (uint64_t)(v >> 63)) << 1);
    return pf_varint(pf_varint(p, RAW), (uint64_t)v);
}

static int64_t take_figure(vp_pb *in)
{
    uint64_t v = 0;
    vp_pb_varint_long(in, &v);
    if (v & 1)
        return (int64_t)(v >> 1) * SINK_PACKED_STEP_PS;
    if (v != RAW)
        return (int64_t)(v >> 2 ^ (0 - (v >> 1 & 1)));
    vp_pb_varint_long(in, &v);
    return (int64_t)v;
}

static char *pack_step_row(char *p, const int64_t *v, size_t figures)
{
    char *end = p + sizeof(uint16_t);
    unsigned has = 0;
    for (size_t i = 0; i < figures; i++)
        if (v[i]) {
            has |= 1u << i;
            end = pack_figure(end, v[i]);
        }
    memcpy(p, &(uint16_t){(uint16_t)has}, sizeof(uint16_t));
    return end;
}

int packed_steps_open(packed_steps *r, const step_windows *windows, size_t device_count)
{
    r->section = vp_calloc(device_count + 1, sizeof *r->section);
    VP_NEED(r->section);
    r->windows = windows;
    r->device_count = device_count;
    return 0;
}

void packed_steps_free(packed_steps *r)
{
    for (size_t d = 0; d < r->device_count; d++)
        for (size_t s = 0; s < STEP_SECTIONS; s++)
            vp_free(r->section[d][s].p);
    vp_free(r->section);
    *r = (packed_steps){0};
}

void packed_steps_begin(packed_steps_writer *w, step_section s)
{
    vp_buf_init(&w->packed, SIZE_MAX / 8);
    w->section = s;
}

int packed_steps_put(packed_steps_writer *w, const int64_t *figures)
{
    char *p = vp_buf_reserve(&w->packed, ROW_BYTES);
    if (!p)
        return w->packed.status;
    w->packed.n += (size_t)(pack_step_row(p, figures, places[w->section].figures) - p);
    return 0;
}

int packed_steps_end(packed_steps_writer *w, packed_steps *r, uint32_t device, int rc)
{
    if (rc < 0) {
        vp_buf_free(&w->packed);
        return rc;
    }
    char *p = w->packed.p, *exact = p ? vp_realloc_array(p, w->packed.n, 1) : NULL;
    r->section[device][w->section] = (step_packed){exact ? exact : p, w->packed.n};
    return rc;
}

packed_steps_reader packed_steps_read(const packed_steps *r, uint32_t device, step_section s)
{
    const step_packed *x = &r->section[device][s];
    return (packed_steps_reader){vp_pb_of((vp_str){x->p, x->n}), places[s].figures};
}

void packed_steps_next(packed_steps_reader *r, int64_t *figures)
{
    uint16_t has = 0;
    if (r->in.end - r->in.p >= (ptrdiff_t)sizeof has) {
        memcpy(&has, r->in.p, sizeof has);
        r->in.p += sizeof has;
    }
    for (size_t i = 0; i < r->figures; i++)
        figures[i] = has >> i & 1 ? take_figure(&r->in) : 0;
}

typedef struct unpacking {
    const packed_steps *r;
    const vp_steps *steps;
    int64_t origin_ps;
} unpacking;

static int unpack_device(void *ctx, uint32_t d)
{
    const unpacking *x = ctx;
    const step_windows *w = &x->r->windows[d];
    packed_steps_reader in[STEP_SECTIONS];
    for (int s = 0; s < STEP_SECTIONS; s++)
        in[s] = packed_steps_read(x->r, d, (step_section)s);
    for (size_t i = 0; i < w->count; i++) {
        vp_step_device row = {.device = d,
                              .start_ps = w->aligned_ps[i] - x->origin_ps,
                              .dur_ps = w->end_ps[i] - w->start_ps[i]};
        for (int s = 0; s < STEP_SECTIONS; s++)
            packed_steps_next(&in[s], (int64_t *)((char *)&row + places[s].offset));
        x->steps->list[w->step[i]].devices[w->entry[i]] = row;
    }
    return 0;
}

int packed_steps_unpack(packed_steps *r, vp_steps *steps, vp_arena *arena, int64_t origin_ps,
                        int threads)
{
    size_t n = 0;
    if (!r->section)
        return 0;
    for (size_t i = 0; i < steps->count; i++)
        n += steps->list[i].device_count;
    vp_step_device *room = vp_arena_alloc(arena, n * sizeof *room);
    VP_NEED(room);
    for (size_t i = 0; i < steps->count; i++) {
        steps->list[i].devices = room;
        room += steps->list[i].device_count;
    }
    unpacking x = {r, steps, origin_ps};
    VP_TRY(vp_each(n < UNPACK_ALONE ? 1 : threads, (uint32_t)r->device_count, unpack_device, &x));
    packed_steps_free(r);
    return 0;
}
