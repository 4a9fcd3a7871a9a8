/* From a sealed trace to its index: texts and kinds, then each track in two passes, one that says
 * how many events each row has and one that writes them where the row lies, block by block. */
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/sort.h"
#include "trace/timeline/tl_index.h"
#include "trace/timeline/tl_place.h"

/* The events of a track as they are drawn: on the host's clock, in the order of their starts. */
typedef struct source {
    const trace_track *k;
    const int64_t *start_ps, *dur_ps;
    const uint32_t *order; /* which event of k is the i-th; NULL: the i-th */
    size_t count;
} source;

/* Of one row, the events that its next block will hold. */
typedef struct staged {
    int64_t start_ps[TL_BLOCK], dur_ps[TL_BLOCK];
    uint32_t n;
    int64_t busy_ps, end_ps; /* of the blocks before */
    uint64_t done;           /* events in them */
    int64_t longest_ps;      /* of the present TL_SUPER blocks */
} staged;

/* What is used for one track after the other. */
typedef struct builder {
    tl_index *x;
    const trace *t;
    vp_sid *text; /* of a text of the trace: the index's + 1; 0: not there yet */
    tl_places places;
    trace_track sorted; /* a copy of what the trace has in another order */
    uint32_t *row_of;   /* by event: in places.rows, then in the index */
    size_t row_of_cap;
    staged *stage;
    size_t stage_cap;
} builder;

/* ---- Texts and kinds ------------------------------------------------------------------------ */

static int take_text(vp_sid *out, builder *b, vp_sid id)
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

static uint8_t hue_of(vp_str name)
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
                     .hue = hue_of(trace_str(b->t, k->name))};
    const vp_sid from[] = {k->name,   k->long_name, k->category, k->opcode, k->hlo_op,
                           k->module, k->scope,     k->source,   k->shape};
    vp_sid *const to[] = {&out->name,   &out->long_name, &out->category, &out->opcode, &out->hlo_op,
                          &out->module, &out->scope,     &out->source,   &out->shape};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        VP_TRY(take_text(to[i], b, from[i]));
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
        VP_TRY(take_text(&g->name, b, t->processes[i].name));
        VP_TRY(take_text(&g->model, b, t->processes[i].model));
        TRACE_EACH_OF(t, i, k)
        {
            g->has_ops = g->has_ops || (t->tracks[k].role == SINK_ROLE_OPS && t->tracks[k].count);
        }
    }
    return 0;
}

/* ---- Blocks --------------------------------------------------------------------------------- */

/* The largest unit that all times of the block are multiples of and the smallest in which they fit;
 * 0: none. */
static uint32_t unit_of(const staged *s)
{
    static const uint32_t units[] = {1, 1000, 1000000};
    uint64_t span = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t late = (uint64_t)s->start_ps[i] - (uint64_t)s->start_ps[0];
        span = late > span ? late : span;
        span = (uint64_t)s->dur_ps[i] > span ? (uint64_t)s->dur_ps[i] : span;
    }
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        bool exact = span / units[u] <= UINT32_MAX;
        for (uint32_t i = 0; exact && u && i < s->n; i++)
            exact =
                (s->start_ps[i] - s->start_ps[0]) % units[u] == 0 && s->dur_ps[i] % units[u] == 0;
        if (exact)
            return units[u];
    }
    return 0;
}

static int make_wide(tl_index *x, tl_block *k, const staged *s)
{
    VP_TRY(
        vp_grow(&x->wide, &x->wide_cap, x->wide_count + 2 * TL_BLOCK, sizeof *x->wide, UINT32_MAX));
    k->wide_at = (uint32_t)x->wide_count;
    memcpy(x->wide + x->wide_count, s->start_ps, sizeof s->start_ps);
    memcpy(x->wide + x->wide_count + TL_BLOCK, s->dur_ps, sizeof s->dur_ps);
    x->wide_count += 2 * TL_BLOCK;
    return 0;
}

static void pack(tl_index *x, const tl_block *k, const staged *s, uint64_t at)
{
    for (uint32_t i = 0; i < s->n; i++) {
        x->start[at + i] = (uint32_t)((s->start_ps[i] - k->base_ps) / k->unit);
        x->dur[at + i] = (uint32_t)(s->dur_ps[i] / k->unit);
    }
}

/* Writes what is staged as the row's next block. */
static int flush(tl_index *x, const tl_row *r, staged *s)
{
    uint64_t number = s->done / TL_BLOCK;
    tl_block *k = &x->blocks[r->first_block + number];
    *k = (tl_block){.base_ps = s->start_ps[0], .busy_ps = s->busy_ps, .unit = unit_of(s)};
    for (uint32_t i = 0; i < s->n; i++) {
        s->busy_ps = tl_sum(s->busy_ps, s->dur_ps[i]);
        if (s->dur_ps[i] > s->dur_ps[k->longest])
            k->longest = i;
        int64_t end = s->start_ps[i] + s->dur_ps[i];
        s->end_ps = (!i && !number) || end > s->end_ps ? end : s->end_ps;
    }
    k->end_ps = s->end_ps;
    int64_t longest = s->dur_ps[k->longest];
    if (number % TL_SUPER == 0 || longest > s->longest_ps) {
        x->supers[r->first_super + number / TL_SUPER] = (uint32_t)number;
        s->longest_ps = longest;
    }
    if (k->unit)
        pack(x, k, s, r->first + s->done);
    else
        VP_TRY(make_wide(x, k, s));
    s->done += s->n;
    s->n = 0;
    return 0;
}

/* ---- Tracks --------------------------------------------------------------------------------- */

static bool in_order(const int64_t *start_ps, const int64_t *dur_ps, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (start_ps[i] < start_ps[i - 1] ||
            (start_ps[i] == start_ps[i - 1] && dur_ps[i] > dur_ps[i - 1]))
            return false;
    return true;
}

static void free_copy(trace_track *c)
{
    vp_free(c->start_ps);
    vp_free(c->dur_ps);
    vp_free(c->kind);
    *c = (trace_track){0};
}

/* Two clocks may order events differently: those of the host's are sorted in a copy then. */
static int sort_copy(builder *b, source *s)
{
    trace_track *c = &b->sorted;
    size_t n = s->count;
    c->start_ps = vp_malloc(n * sizeof *c->start_ps);
    c->dur_ps = vp_malloc(n * sizeof *c->dur_ps);
    c->kind = vp_malloc(n * sizeof *c->kind);
    VP_NEED(c->start_ps && c->dur_ps && c->kind);
    memcpy(c->start_ps, s->start_ps, n * sizeof *c->start_ps);
    memcpy(c->dur_ps, s->dur_ps, n * sizeof *c->dur_ps);
    for (size_t i = 0; i < n; i++)
        c->kind[i] = (uint32_t)i;
    c->count = c->cap = n;
    VP_TRY(trace_sort_track(c));
    s->start_ps = c->start_ps;
    s->dur_ps = c->dur_ps;
    s->order = c->kind;
    return 0;
}

static int open_source(builder *b, source *s, const trace_track *k, uint64_t room)
{
    *s = (source){.k = k,
                  .start_ps = k->aligned_start_ps ? k->aligned_start_ps : k->start_ps,
                  .dur_ps = k->aligned_start_ps ? k->aligned_dur_ps : k->dur_ps,
                  .count = k->count < room ? k->count : (size_t)room};
    return in_order(s->start_ps, s->dur_ps, s->count) ? 0 : sort_copy(b, s);
}

static int64_t length_at(const source *s, size_t i)
{
    return s->dur_ps[i] > 0 ? s->dur_ps[i] : 0;
}

static int place_events(builder *b, const source *s)
{
    tl_places_clear(&b->places);
    VP_TRY(vp_grow(&b->row_of, &b->row_of_cap, s->count, sizeof *b->row_of, VP_EVENTS_MAX));
    for (size_t i = 0; i < s->count; i++)
        VP_TRY(
            tl_place(&b->places, s->start_ps[i], s->start_ps[i] + length_at(s, i), &b->row_of[i]));
    return 0;
}

typedef struct numbered {
    tl_spot spot;
    uint32_t was;
} numbered;

static int by_height(const void *a, const void *b)
{
    const tl_spot *x = &((const numbered *)a)->spot, *y = &((const numbered *)b)->spot;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static int room_for(tl_index *x, const tl_spot *spots, size_t n)
{
    uint64_t blocks = 0, supers = 0;
    for (size_t i = 0; i < n; i++) {
        blocks += spots[i].count / TL_BLOCK + 1;
        supers += spots[i].count / (TL_BLOCK * TL_SUPER) + 1;
    }
    VP_TRY(vp_grow(&x->rows, &x->row_cap, x->row_count + n, sizeof *x->rows, VP_EVENTS_MAX));
    VP_TRY(vp_grow(&x->blocks, &x->block_cap, x->block_count + blocks, sizeof *x->blocks,
                   VP_EVENTS_MAX));
    return vp_grow(&x->supers, &x->super_cap, x->super_count + supers, sizeof *x->supers,
                   VP_EVENTS_MAX);
}

/* Numbers the rows from above: lane by lane, in each by depth. row_at: by places.rows. */
static int make_rows(builder *b, uint32_t track, uint32_t *row_at)
{
    tl_index *x = b->x;
    tl_track *k = &x->tracks[track];
    size_t n = b->places.row_count;
    VP_CLEANUP(vp_free_ptr) numbered *rows = vp_calloc(n + 1, sizeof *rows);
    VP_NEED(rows);
    for (uint32_t i = 0; i < n; i++)
        rows[i] = (numbered){b->places.rows[i], i};
    qsort(rows, n, sizeof *rows, by_height);
    VP_TRY(room_for(x, b->places.rows, n));
    k->first_row = (uint32_t)x->row_count;
    k->row_count = (uint32_t)n;
    k->lane_count = (uint32_t)b->places.lane_count;
    uint64_t at = k->first;
    for (uint32_t i = 0; i < n; i++) {
        const tl_spot *s = &rows[i].spot;
        row_at[rows[i].was] = i;
        x->rows[x->row_count++] = (tl_row){.track = track,
                                           .lane = s->lane,
                                           .depth = s->depth,
                                           .overlaps = s->overlaps,
                                           .first = at,
                                           .count = s->count,
                                           .first_block = x->block_count,
                                           .first_super = x->super_count};
        k->overlaid += s->overlaps ? s->count : 0;
        at += s->count;
        x->block_count += (s->count + TL_BLOCK - 1) / TL_BLOCK;
        x->super_count += (s->count + TL_BLOCK * TL_SUPER - 1) / (TL_BLOCK * TL_SUPER);
    }
    return 0;
}

static int scatter(builder *b, const source *s, tl_track *k, uint32_t *place)
{
    tl_index *x = b->x;
    for (uint32_t r = 0; r < k->row_count; r++)
        b->stage[r].n = 0, b->stage[r].done = 0, b->stage[r].busy_ps = 0;
    for (size_t i = 0; i < s->count; i++) {
        const tl_row *r = &x->rows[k->first_row + b->row_of[i]];
        staged *g = &b->stage[b->row_of[i]];
        size_t from = s->order ? s->order[i] : i;
        uint32_t kind = s->k->kind[from];
        uint64_t at = r->first + g->done + g->n;
        g->start_ps[g->n] = s->start_ps[i];
        g->dur_ps[g->n] = length_at(s, i);
        x->kind[at] = kind;
        x->kinds[kind].calls++;
        x->kinds[kind].total_ps = tl_sum(x->kinds[kind].total_ps, g->dur_ps[g->n]);
        k->dur_ps = tl_sum(k->dur_ps, g->dur_ps[g->n]);
        if (place)
            place[at - k->first] = (uint32_t)from;
        if (++g->n == TL_BLOCK)
            VP_TRY(flush(x, r, g));
    }
    for (uint32_t r = 0; r < k->row_count; r++)
        if (b->stage[r].n)
            VP_TRY(flush(x, &x->rows[k->first_row + r], &b->stage[r]));
    return 0;
}

static bool has_attrs(const trace_track *k)
{
    for (size_t a = 0; a < SINK_ATTRS; a++)
        if (k->attr[a])
            return true;
    return false;
}

/* place: which event of the trace's track lies where. */
static int take_attrs(tl_track *to, const trace_track *from, const uint32_t *place)
{
    for (size_t a = 0; a < SINK_ATTRS; a++) {
        if (!from->attr[a])
            continue;
        for (size_t i = 0; i < to->count; i++) {
            int64_t v = trace_column_get(from->attr[a], place[i], SINK_NO_VALUE);
            if (v != SINK_NO_VALUE)
                VP_TRY(trace_column_put(&to->attr[a], i, v));
        }
    }
    return 0;
}

static void take_extent(tl_index *x, tl_track *k)
{
    for (uint32_t i = 0; i < k->row_count; i++) {
        const tl_row *r = &x->rows[k->first_row + i];
        int64_t start = tl_start(x, r, 0);
        int64_t end = x->blocks[r->first_block + (r->count - 1) / TL_BLOCK].end_ps;
        k->start_ps = start < k->start_ps ? start : k->start_ps;
        k->end_ps = end > k->end_ps ? end : k->end_ps;
    }
    x->start_ps = k->start_ps < x->start_ps ? k->start_ps : x->start_ps;
    x->end_ps = k->end_ps > x->end_ps ? k->end_ps : x->end_ps;
}

static int fill_track(builder *b, const source *s, tl_track *k, uint32_t track)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *place = NULL;
    VP_CLEANUP(vp_free_ptr) uint32_t *row_at = NULL;
    VP_TRY(place_events(b, s));
    row_at = vp_calloc(b->places.row_count + 1, sizeof *row_at);
    VP_NEED(row_at);
    VP_TRY(make_rows(b, track, row_at));
    for (size_t i = 0; i < s->count; i++)
        b->row_of[i] = row_at[b->row_of[i]];
    if (has_attrs(s->k)) {
        place = vp_realloc_array(NULL, s->count, sizeof *place);
        VP_NEED(place);
    }
    VP_TRY(vp_grow(&b->stage, &b->stage_cap, k->row_count, sizeof *b->stage, TL_ROWS_MAX));
    VP_TRY(scatter(b, s, k, place));
    take_extent(b->x, k);
    return place ? take_attrs(k, s->k, place) : 0;
}

static int take_track(builder *b, uint32_t i)
{
    tl_index *x = b->x;
    const trace_track *from = &b->t->tracks[i];
    tl_track *k = &x->tracks[x->track_count++];
    source s;
    *k = (tl_track){.group = from->process,
                    .id = from->id,
                    .role = from->role,
                    .first = x->event_count,
                    .start_ps = INT64_MAX,
                    .end_ps = INT64_MIN};
    VP_TRY(take_text(&k->name, b, from->name));
    VP_TRY(open_source(b, &s, from, VP_TIMELINE_EVENTS_MAX - x->event_count));
    k->count = s.count;
    k->left_out = from->count - s.count;
    x->event_count += k->count;
    x->left_out += k->left_out;
    int rc = k->count ? fill_track(b, &s, k, i) : 0;
    free_copy(&b->sorted);
    return rc;
}

static int take_tracks(builder *b)
{
    tl_index *x = b->x;
    uint64_t n =
        b->t->event_count < VP_TIMELINE_EVENTS_MAX ? b->t->event_count : VP_TIMELINE_EVENTS_MAX;
    x->tracks = vp_calloc((size_t)b->t->track_count + 1, sizeof *x->tracks);
    x->start = vp_realloc_array(NULL, n + 1, sizeof *x->start);
    x->dur = vp_realloc_array(NULL, n + 1, sizeof *x->dur);
    x->kind = vp_realloc_array(NULL, n + 1, sizeof *x->kind);
    VP_NEED(x->tracks && x->start && x->dur && x->kind);
    for (uint32_t i = 0; i < b->t->track_count; i++)
        VP_TRY(take_track(b, i));
    return 0;
}

static int build(tl_index *x, const trace *t)
{
    builder b = {.x = x, .t = t};
    b.text = vp_calloc(t->names.count + 1, sizeof *b.text);
    VP_NEED(b.text);
    int rc = vp_intern_init(&x->names, &x->arena);
    if (rc >= 0)
        rc = take_kinds(&b);
    if (rc >= 0)
        rc = take_groups(&b);
    if (rc >= 0)
        rc = take_tracks(&b);
    vp_free(b.text);
    vp_free(b.row_of);
    vp_free(b.stage);
    free_copy(&b.sorted);
    tl_places_free(&b.places);
    return rc;
}

int tl_build(tl_index **out, const trace *t)
{
    tl_index *x = vp_calloc(1, sizeof *x);
    VP_NEED(x);
    vp_arena_init(&x->arena);
    x->start_ps = INT64_MAX;
    x->end_ps = INT64_MIN;
    x->base_unix_ns = t->base_unix_ns;
    x->file_origin_ns = t->file_origin_ns;
    x->partial = t->partial;
    int rc = build(x, t);
    if (rc < 0) {
        tl_free(x);
        return rc;
    }
    *out = x;
    return 0;
}

void tl_free(tl_index *x)
{
    if (!x)
        return;
    for (uint32_t i = 0; i < x->track_count; i++)
        for (size_t a = 0; a < SINK_ATTRS; a++)
            trace_column_free(x->tracks[i].attr[a]);
    vp_free(x->groups);
    vp_free(x->tracks);
    vp_free(x->rows);
    vp_free(x->blocks);
    vp_free(x->supers);
    vp_free(x->start);
    vp_free(x->dur);
    vp_free(x->kind);
    vp_free(x->wide);
    vp_free(x->kinds);
    vp_intern_free(&x->names);
    vp_arena_free(&x->arena);
    vp_free(x);
}

static uint64_t attr_bytes(const tl_track *k)
{
    uint64_t n = 0;
    for (size_t a = 0; a < SINK_ATTRS; a++)
        if (k->attr[a])
            n += k->attr[a]->cap * sizeof(int64_t) + k->attr[a]->block_cap * sizeof(trace_block);
    return n;
}

uint64_t tl_bytes(const tl_index *x)
{
    uint64_t n = sizeof *x + x->arena.bytes + x->event_count * 3 * sizeof(uint32_t);
    n += x->row_cap * sizeof *x->rows + x->block_cap * sizeof *x->blocks;
    n += x->super_cap * sizeof *x->supers + x->wide_cap * sizeof *x->wide;
    n += x->kind_count * sizeof *x->kinds + x->track_count * sizeof *x->tracks;
    n += x->names.cap * (sizeof(vp_str) + sizeof(uint32_t)) + x->names.slot_mask * sizeof(uint32_t);
    for (uint32_t i = 0; i < x->track_count; i++)
        n += attr_bytes(&x->tracks[i]);
    return n;
}
