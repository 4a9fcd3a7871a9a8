/* Builds an index from a sealed trace: texts, kinds and groups, then the tracks, each separately.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/timeline/tl_index.h"
#include "trace/timeline/tl_track.h"

/* Threads that make tracks. */
#define MAKERS_MAX 8
/* Events below which a second thread for a track is not useful. */
#define PAIR_LEAST 100000u

typedef struct builder {
    tl_index *x;
    const trace *t;
    vp_sid *text;   /* by text of the trace: the index's + 1; 0: not there yet */
    tl_row **rows;  /* by track */
    uint32_t *todo; /* tracks, sorted by number of events, descending */
    bool last;      /* tl_build_last */
    _Atomic uint32_t begun;
    _Atomic bool failed;
} builder;

/* ---- Texts and kinds ------------------------------------------------------------------------ */

static int index_take_text(vp_sid *out, builder *b, vp_sid id)
{
    *out = 0;
    if (!id)
        return 0;
    if (!b->text[id]) {
        vp_sid mine;
        VP_TRY(vp_intern_put(&b->x->names, trace_str(b->t, id), &mine));
        b->text[id] = mine + 1;
    }
    *out = b->text[id] - 1;
    return 0;
}

static uint8_t hue_of_name(vp_str name)
{
    char plain[64];
    size_t n = 0;
    for (size_t i = 0; i < name.n && n < sizeof plain; i++)
        if (name.p[i] < '0' || name.p[i] > '9')
            plain[n++] = name.p[i];
    return (uint8_t)vp_fingerprint(plain, n, 0);
}

static int take_kind(tl_kind *out, builder *b, const trace_kind *k)
{
    *out = (tl_kind){.program_id = k->program_id,
                     .bytes = k->bytes,
                     .flops = k->flops,
                     .is_op = k->is_op,
                     .unfinished = k->unfinished,
                     .hue = hue_of_name(trace_str(b->t, k->name))};
    const vp_sid from[] = {k->name,  k->long_name, k->category, k->opcode,   k->hlo_op,  k->module,
                           k->scope, k->source,    k->shape,    k->op_inner, k->op_outer};
    vp_sid *const to[] = {&out->name,   &out->long_name, &out->category, &out->opcode,
                          &out->hlo_op, &out->module,    &out->scope,    &out->source,
                          &out->shape,  &out->op_inner,  &out->op_outer};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        VP_TRY(index_take_text(to[i], b, from[i]));
    return 0;
}

static int take_kinds(builder *b)
{
    tl_index *x = b->x;
    x->kinds = vp_calloc((size_t)b->t->kind_count + 1, sizeof *x->kinds);
    VP_NEED(x->kinds);
    for (uint32_t i = 0; i < b->t->kind_count; i++)
        VP_TRY(take_kind(&x->kinds[x->kind_count++], b, &b->t->kinds[i]));
    return 0;
}

static int take_groups(builder *b)
{
    tl_index *x = b->x;
    const trace *t = b->t;
    x->groups = vp_calloc((size_t)t->process_count + 1, sizeof *x->groups);
    VP_NEED(x->groups);
    for (uint32_t i = 0; i < t->process_count; i++) {
        tl_group *g = &x->groups[x->group_count++];
        *g = (tl_group){.id = t->processes[i].id, .kind = t->processes[i].kind};
        VP_TRY(index_take_text(&g->name, b, t->processes[i].name));
        VP_TRY(index_take_text(&g->model, b, t->processes[i].model));
        TRACE_EACH_OF(t, i, k)
        {
            g->has_ops = g->has_ops || (t->tracks[k].role == SINK_ROLE_OPS && t->tracks[k].count);
        }
    }
    return 0;
}

/* ---- Tracks --------------------------------------------------------------------------------- */

/* Without its rows. */
static int take_track(builder *b, uint32_t i)
{
    tl_index *x = b->x;
    const trace_track *from = &b->t->tracks[i];
    uint64_t room = VP_TIMELINE_EVENTS_MAX - x->event_count;
    tl_track *k = &x->tracks[x->track_count++];
    *k = (tl_track){.group = from->process,
                    .id = from->id,
                    .role = from->role,
                    .count = from->count < room ? from->count : room,
                    .start_ps = INT64_MAX,
                    .end_ps = INT64_MIN};
    k->left_out = from->count - k->count;
    x->event_count += k->count;
    x->left_out += k->left_out;
    return index_take_text(&k->name, b, from->name);
}

/* State of one thread. */
typedef struct maker {
    builder *b;
    tl_maker m;
    vp_mem_budget *budget;
    vp_aside aside;
} maker;

/* Builds the remaining tracks one after another. */
static int make_tracks(void *ctx)
{
    maker *me = ctx;
    builder *b = me->b;
    vp_mem_budget *before = vp_mem_enter(me->budget);
    int rc = 0;
    for (uint32_t i; rc >= 0 && !atomic_load(&b->failed);) {
        if ((i = atomic_fetch_add(&b->begun, 1)) >= b->x->track_count)
            break;
        uint32_t track = b->todo[i];
        if (b->x->tracks[track].count)
            rc = tl_track_make(&b->x->tracks[track], &b->rows[track], &me->m, &b->t->tracks[track],
                               track);
    }
    if (rc < 0)
        atomic_store(&b->failed, true);
    vp_mem_enter(before);
    return rc;
}

static void add_calls(tl_index *x, const tl_calls *c)
{
    for (uint32_t i = 0; i < x->kind_count; i++) {
        x->kinds[i].calls += c[i].calls;
        x->kinds[i].total_ps = tl_sum(x->kinds[i].total_ps, c[i].total_ps);
    }
}

/* A track with more than a processor's share of the events would delay the others. */
static size_t pair_from(const tl_index *x)
{
    int cpus = vp_cpus();
    uint64_t share = x->event_count / (unsigned)cpus;
    return cpus == 1 ? SIZE_MAX : share > PAIR_LEAST ? (size_t)share : PAIR_LEAST;
}

static int run_makers(builder *b, maker *all, uint32_t n)
{
    int rc = 0;
    for (uint32_t i = 0; i < n; i++) {
        all[i].b = b;
        all[i].budget = vp_mem_enter(NULL);
        vp_mem_enter(all[i].budget);
        all[i].m.pair_from = pair_from(b->x);
        all[i].m.last = b->last;
        all[i].m.kinds = vp_calloc((size_t)b->x->kind_count + 1, sizeof *all[i].m.kinds);
        VP_NEED(all[i].m.kinds);
    }
    for (uint32_t i = 1; i < n; i++)
        vp_aside_start(&all[i].aside, make_tracks, &all[i]);
    rc = make_tracks(&all[0]);
    for (uint32_t i = 1; i < n; i++)
        rc = vp_aside_join(&all[i].aside, rc);
    for (uint32_t i = 0; i < n; i++)
        add_calls(b->x, all[i].m.kinds);
    return rc < 0 ? rc : 0;
}

/* As many as there are processors, but no more than there are tracks. */
static uint32_t maker_count(const tl_index *x)
{
    int cpus = vp_cpus();
    uint32_t n = cpus < MAKERS_MAX ? (uint32_t)cpus : MAKERS_MAX;
    if (x->event_count < 100000)
        return 1;
    return n < x->track_count ? n : x->track_count;
}

static int make_all(builder *b)
{
    maker all[MAKERS_MAX] = {0};
    int rc = run_makers(b, all, maker_count(b->x));
    for (uint32_t i = 0; i < MAKERS_MAX; i++)
        tl_maker_free(&all[i].m);
    return rc;
}

/* Numbers the rows of all tracks consecutively. */
static int join_rows(builder *b)
{
    tl_index *x = b->x;
    for (uint32_t i = 0; i < x->track_count; i++)
        x->row_count += x->tracks[i].row_count;
    x->rows = vp_calloc(x->row_count + 1, sizeof *x->rows);
    VP_NEED(x->rows);
    uint32_t at = 0;
    for (uint32_t i = 0; i < x->track_count; i++) {
        tl_track *k = &x->tracks[i];
        k->first_row = at;
        if (k->row_count)
            memcpy(x->rows + at, b->rows[i], k->row_count * sizeof *x->rows);
        at += k->row_count;
        x->start_ps = k->start_ps < x->start_ps ? k->start_ps : x->start_ps;
        x->end_ps = k->end_ps > x->end_ps ? k->end_ps : x->end_ps;
    }
    return 0;
}

static int by_count(const void *a, const void *b, void *ctx)
{
    const tl_track *tracks = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (tracks[i].count != tracks[k].count)
        return tracks[i].count > tracks[k].count ? -1 : 1;
    return i < k ? -1 : i > k;
}

static int take_tracks(builder *b)
{
    tl_index *x = b->x;
    uint32_t n = b->t->track_count;
    x->tracks = vp_calloc((size_t)n + 1, sizeof *x->tracks);
    b->rows = vp_calloc((size_t)n + 1, sizeof *b->rows);
    b->todo = vp_calloc((size_t)n + 1, sizeof *b->todo);
    VP_NEED(x->tracks && b->rows && b->todo);
    for (uint32_t i = 0; i < n; i++) {
        b->todo[i] = i;
        VP_TRY(take_track(b, i));
    }
    qsort_r(b->todo, n, sizeof *b->todo, by_count, x->tracks);
    VP_TRY(make_all(b));
    return join_rows(b);
}

static int build_index(tl_index *x, const trace *t, bool last)
{
    builder b = {.x = x, .t = t, .last = last};
    b.text = vp_calloc(t->names.count + 1, sizeof *b.text);
    VP_NEED(b.text);
    int rc = vp_intern_init(&x->names, &x->arena);
    if (rc >= 0)
        rc = take_kinds(&b);
    if (rc >= 0)
        rc = take_groups(&b);
    if (rc >= 0)
        rc = take_tracks(&b);
    for (uint32_t i = 0; b.rows && i < x->track_count; i++)
        vp_free(b.rows[i]);
    vp_free(b.rows);
    vp_free(b.todo);
    vp_free(b.text);
    return rc;
}

static int build_new(tl_index **out, const trace *t, bool last)
{
    tl_index *x = vp_calloc(1, sizeof *x);
    VP_NEED(x);
    vp_arena_init(&x->arena);
    x->start_ps = INT64_MAX;
    x->end_ps = INT64_MIN;
    x->base_unix_ns = t->base_unix_ns;
    x->file_origin_ns = t->file_origin_ns;
    x->partial = t->partial;
    int rc = build_index(x, t, last);
    if (rc < 0) {
        tl_free(x);
        return rc;
    }
    *out = x;
    return 0;
}

int tl_build(tl_index **out, const trace *t)
{
    return build_new(out, t, false);
}

int tl_build_last(tl_index **out, const trace *t)
{
    return build_new(out, t, true);
}
