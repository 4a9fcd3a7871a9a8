#include "trace/model/derived.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

#define ROW(kind, title, first, second, text, more)                                                \
    [DERIVED_##kind] = {#kind, title, {first, second}, {text, more}},
const derived_kind_row derived_kinds[DERIVED_KIND_COUNT] = {DERIVED_KINDS(ROW)};
#undef ROW

const char *const derived_part_words[DERIVED_PART_COUNT] = {
    "idle", "compute", "exposed communication", "exposed copy"};

/* Tracks over which crossing slices are distributed; slices that fit in none are dropped and
 * counted. */
#define LANES_MAX 64u

int derived_new(derived **out)
{
    derived *d = vp_calloc(1, sizeof *d);
    VP_NEED(d);
    vp_arena_init(&d->arena);
    vp_map_init(&d->op_at);
    vp_map_init(&d->launch_at);
    int rc = vp_intern_init(&d->names, &d->arena);
    if (rc < 0) {
        derived_free(d);
        return rc;
    }
    *out = d;
    return 0;
}

void derived_free(derived *d)
{
    if (!d)
        return;
    vp_intern_free(&d->names);
    vp_arena_free(&d->arena);
    vp_free(d->groups);
    vp_free(d->tracks);
    vp_free(d->slices);
    vp_free(d->notes);
    vp_free(d->places);
    vp_free(d->launched);
    vp_map_free(&d->op_at);
    vp_map_free(&d->launch_at);
    vp_free(d);
}

static uint64_t map_bytes(const vp_map *m)
{
    return m->slots ? (m->mask + 1) * sizeof *m->slots : 0;
}

uint64_t derived_bytes(const derived *d)
{
    return d ? d->arena.bytes + d->group_cap * sizeof *d->groups +
                   d->track_cap * sizeof *d->tracks +
                   (d->notes ? d->slice_count * sizeof *d->notes
                             : d->slice_cap * sizeof *d->slices) +
                   d->place_cap * sizeof *d->places + d->launched_cap * sizeof *d->launched +
                   map_bytes(&d->op_at) + map_bytes(&d->launch_at)
             : 0;
}

static uint64_t linked_key(int64_t correlation, int64_t start_ps)
{
    return vp_mix(vp_mix((uint64_t)correlation) ^ (uint64_t)start_ps);
}

int derived_add_launched(derived *d, int64_t correlation, int64_t op_ps, int64_t launch_ps,
                         derived_launched of)
{
    VP_TRY(vp_grow(&d->launched, &d->launched_cap, d->launched_count + 1, sizeof *d->launched,
                   VP_EVENTS_MAX));
    VP_TRY(vp_map_set(&d->op_at, linked_key(correlation, op_ps), (uint32_t)d->launched_count));
    VP_TRY(vp_map_set(&d->launch_at, linked_key(correlation, launch_ps), of.launch));
    d->launched[d->launched_count++] = of;
    return 0;
}

const derived_launched *derived_op_launched(const derived *d, int64_t correlation, int64_t op_ps)
{
    uint32_t at = vp_map_get(&d->op_at, linked_key(correlation, op_ps));
    return at == VP_MAP_NONE ? NULL : &d->launched[at];
}

uint32_t derived_launch_number(const derived *d, int64_t correlation, int64_t launch_ps)
{
    return vp_map_get(&d->launch_at, linked_key(correlation, launch_ps));
}

/* Uses the memory of the slices: a note ends at or before the end of its slice. */
void derived_keep_notes(derived *d)
{
    _Static_assert(sizeof(derived_note) <= sizeof(derived_slice), "notes fit in the slices' place");
    char *to = (char *)d->slices;
    if (d->notes || !to)
        return;
    for (size_t i = 0; i < d->slice_count; i++) {
        const derived_slice *s = &d->slices[i];
        derived_note n = {.number = {s->number[0], s->number[1]}, .text = {s->text[0], s->text[1]}};
        memcpy(to + i * sizeof n, &n, sizeof n);
    }
    void *less = vp_realloc_array(to, d->slice_count, sizeof(derived_note));
    d->notes = less ? less : (void *)to;
    d->slices = NULL;
    d->slice_cap = 0;
}

int derived_name(derived *d, vp_sid *out, vp_str text)
{
    return vp_intern_put(&d->names, text, out);
}

int derived_add_group(derived *d, vp_str name)
{
    derived_group g = {0};
    VP_TRY(derived_name(d, &g.name, name));
    VP_TRY(vp_grow(&d->groups, &d->group_cap, d->group_count + 1, sizeof g, VP_TRACKS_MAX));
    d->groups[d->group_count++] = g;
    return 0;
}

static int derived_put_track(derived *d, derived_track t)
{
    VP_TRY(vp_grow(&d->tracks, &d->track_cap, d->track_count + 1, sizeof t, VP_TRACKS_MAX));
    d->tracks[d->track_count++] = t;
    return 0;
}

int derived_add_track(derived *d, derived_kind kind, vp_str more)
{
    char text[VP_DERIVED_NAME_MAX];
    int n = snprintf(text, sizeof text, more.n ? "%s · %.*s" : "%s", derived_kinds[kind].title,
                     (int)(more.n < VP_DERIVED_NAME_MAX ? more.n : VP_DERIVED_NAME_MAX), more.p);
    size_t length = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    derived_track t = {
        .kind = kind, .group = (uint32_t)d->group_count - 1, .first = d->slice_count};
    VP_TRY(derived_name(d, &t.name, (vp_str){text, length}));
    return derived_put_track(d, t);
}

int derived_add(derived *d, const derived_slice *s, size_t *at)
{
    if (at)
        *at = SIZE_MAX;
    if (d->slice_count >= VP_DERIVED_MAX) {
        d->left_out++;
        return 0;
    }
    VP_TRY(vp_grow(&d->slices, &d->slice_cap, d->slice_count + 1, sizeof *s, VP_DERIVED_MAX));
    if (at)
        *at = d->slice_count;
    d->slices[d->slice_count] = *s;
    d->slices[d->slice_count++].depth = (uint32_t)d->tracks[d->track_count - 1].count++;
    return 0;
}

int derived_group_name(vp_buf *b, const derived *d, const derived_group *g)
{
    vp_buf_str(b, derived_text(d, g->name));
    return vp_buf_puts(b, g->own_clock ? " (analysis, device clock)"
                          : g->name    ? " (analysis)"
                                       : "analysis");
}

/* ---- End of a track ---- */

/* Before a track is ended, a slice's depth is its number in the track: of equal slices, the first
 * encloses the others. */
static int by_slice_place(const void *a, const void *b)
{
    const derived_slice *x = a, *y = b;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->end_ps != y->end_ps)
        return x->end_ps > y->end_ps ? -1 : 1;
    return (x->depth > y->depth) - (x->depth < y->depth);
}

static void sort_slices(derived_slice *v, size_t n)
{
    size_t i = 1;
    while (i < n && by_slice_place(&v[i - 1], &v[i]) < 0)
        i++;
    if (i < n)
        qsort(v, n, sizeof *v, by_slice_place);
}

/* Ends of the open slices, outermost first. */
typedef struct open_slices {
    int64_t *end;
    size_t n, cap;
} open_slices;

/* 1, and sets the slice's depth; 0: it crosses an open slice. */
static int nest_slice(open_slices *o, derived_slice *s)
{
    while (o->n && o->end[o->n - 1] <= s->start_ps)
        o->n--;
    if (o->n && o->end[o->n - 1] < s->end_ps)
        return 0;
    VP_TRY(vp_grow(&o->end, &o->cap, o->n + 1, sizeof *o->end, VP_DERIVED_MAX));
    s->depth = (uint32_t)o->n;
    o->end[o->n++] = s->end_ps;
    return 1;
}

/* Moves the nesting slices of [first, first + n) to its front, and the others after them, both in
 * order. *kept: number of nesting slices. */
static int part_nesting_slices(derived_slice *v, size_t n, size_t *kept)
{
    VP_CLEANUP(vp_free_ptr) derived_slice *rest = NULL;
    size_t crossing = 0, cap = 0;
    open_slices open = {0};
    int rc = 0;
    *kept = 0;
    for (size_t i = 0; i < n && rc >= 0; i++) {
        rc = nest_slice(&open, &v[i]);
        if (rc == 1)
            v[(*kept)++] = v[i];
        else if (rc == 0)
            rc = vp_grow(&rest, &cap, crossing + 1, sizeof *rest, VP_DERIVED_MAX);
        else
            break;
        if (rc == 0)
            rest[crossing++] = v[i];
    }
    vp_free(open.end);
    if (rc >= 0 && crossing)
        memcpy(v + *kept, rest, crossing * sizeof *rest);
    return rc < 0 ? rc : 0;
}

static int add_sibling(derived *d, derived_track like, unsigned lane)
{
    char text[VP_DERIVED_NAME_MAX + 16];
    vp_str name = derived_text(d, like.name);
    int n = snprintf(text, sizeof text, "%.*s (%u)", (int)name.n, name.p, lane);
    VP_TRY(derived_name(d, &like.name, (vp_str){text, (size_t)n}));
    return derived_put_track(d, like);
}

int derived_end_track(derived *d)
{
    derived_track *t = &d->tracks[d->track_count - 1];
    size_t at = t->first, left = t->count, kept;
    if (!left) {
        d->track_count--;
        return 0;
    }
    derived_track like = *t;
    sort_slices(d->slices + at, left);
    for (unsigned lane = 1; left && lane <= LANES_MAX; lane++) {
        VP_TRY(part_nesting_slices(d->slices + at, left, &kept));
        if (lane > 1)
            VP_TRY(add_sibling(d, like, lane));
        t = &d->tracks[d->track_count - 1];
        t->first = at;
        t->count = kept;
        at += kept;
        left -= kept;
    }
    d->left_out += left;
    d->slice_count = at;
    return 0;
}
