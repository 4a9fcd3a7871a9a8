#include "trace/model/trace.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/model/sort.h"

/* Below this many events, starting a thread takes longer than sorting them. */
#define SORT_ALONE 50000u

static trace *trace_of_sink(sink *s)
{
    return (trace *)s;
}

static int fill_process(trace_process *p, trace *t, const sink_process *info)
{
    p->id = info->id;
    p->kind = info->kind;
    p->ordinal = info->ordinal;
    p->has_device_id = info->has_device_id;
    p->device_id = info->device_id;
    if (info->chip.gflops || info->chip.mb_s || info->chip.cores || info->chip.memory_bytes)
        p->chip = info->chip;
    if (info->model.n)
        VP_TRY(vp_intern_put(&t->names, info->model, &p->model));
    return info->name.n ? vp_intern_put(&t->names, info->name, &p->name) : 0;
}

static int on_process(sink *s, const sink_process *info, uint32_t *id)
{
    trace *t = trace_of_sink(s);
    trace_process p = {.part_start_ps = SINK_NO_TIME, .part_end_ps = SINK_NO_TIME};
    VP_TRY(vp_grow(&t->processes, &t->process_cap, (size_t)t->process_count + 1, sizeof p,
                   VP_PROCESSES_MAX));
    VP_TRY(fill_process(&p, t, info));
    t->processes[t->process_count] = p;
    *id = t->process_count++;
    return 0;
}

static int on_process_update(sink *s, uint32_t id, const sink_process *info)
{
    trace *t = trace_of_sink(s);
    if (id >= t->process_count)
        return vp_fail(VP_EARG, "no process %u", id);
    return fill_process(&t->processes[id], t, info);
}

static int fill_track(trace_track *k, trace *t, const sink_track *info)
{
    k->process = info->process;
    k->id = info->id;
    k->role = info->role;
    k->one_timeline = info->one_timeline;
    k->spans = info->spans;
    return info->name.n ? vp_intern_put(&t->names, info->name, &k->name) : 0;
}

static int on_track(sink *s, const sink_track *info, uint32_t *id)
{
    trace *t = trace_of_sink(s);
    trace_track k = {.sorted = true};
    VP_TRY(vp_grow(&t->tracks, &t->track_cap, (size_t)t->track_count + 1, sizeof k, VP_TRACKS_MAX));
    VP_TRY(fill_track(&k, t, info));
    t->tracks[t->track_count] = k;
    *id = t->track_count++;
    return 0;
}

static int on_track_update(sink *s, uint32_t id, const sink_track *info)
{
    trace *t = trace_of_sink(s);
    if (id >= t->track_count)
        return vp_fail(VP_EARG, "no track %u", id);
    return fill_track(&t->tracks[id], t, info);
}

static int on_kind(sink *s, const sink_kind *info, uint32_t *id)
{
    trace *t = trace_of_sink(s);
    trace_kind k = {.program_id = info->program_id,
                    .bytes = info->bytes,
                    .flops = info->flops,
                    .group_size = info->group_size,
                    .hbm_bytes = info->hbm_bytes,
                    .rows = info->rows,
                    .columns = info->columns,
                    .batch = info->batch,
                    .graph = info->graph,
                    .graph_node = info->graph_node,
                    .has_hbm = info->has_hbm,
                    .dtype = info->dtype,
                    .is_op = info->is_op,
                    .unfinished = info->unfinished};
    const struct {
        vp_str from;
        vp_sid *to;
    } strings[] = {{info->name, &k.name},
                   {info->long_name, &k.long_name},
                   {info->category, &k.category},
                   {info->opcode, &k.opcode},
                   {info->hlo_opcode, &k.hlo_opcode},
                   {info->hlo_op, &k.hlo_op},
                   {info->module, &k.module},
                   {info->scope, &k.scope},
                   {info->source, &k.source},
                   {info->shape, &k.shape},
                   {info->stream_label, &k.stream_label},
                   {info->memcpy, &k.memcpy},
                   {info->twin_of, &k.twin_of},
                   {info->groups, &k.groups},
                   {info->program, &k.program},
                   {info->launch, &k.launch}};
    VP_TRY(vp_grow(&t->kinds, &t->kind_cap, (size_t)t->kind_count + 1, sizeof k, VP_INTERN_MAX));
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        VP_TRY(vp_intern_put(&t->names, strings[i].from, strings[i].to));
    t->kinds[t->kind_count] = k;
    *id = t->kind_count++;
    t->graphs = t->graphs || k.graph;
    return 0;
}

/* Reserves owned memory for `need` events. */
static int track_reserve(trace_track *k, size_t need)
{
    VP_TRY(trace_times_reserve(&k->own, k->count, need));
    return k->aligned.v ? trace_times_reserve(&k->aligned, k->count, need) : 0;
}

/* Adds the host clock when a device clock appears within a track: earlier events had one clock
 * only. */
static int add_aligned(trace_track *k)
{
    return trace_times_copy_starts(&k->aligned, &k->own, k->count, k->own.cap);
}

/* Stores the attributes of the event at `at`, the track's last. */
static int put_extra(trace_track *k, size_t at, const sink_extra *x)
{
    for (uint32_t has = x->has & ((1u << SINK_ATTRS) - 1); has; has &= has - 1) {
        unsigned a = (unsigned)__builtin_ctz(has);
        VP_TRY(trace_column_put(&k->attr[a], at, x->v[a]));
    }
    return 0;
}

static bool event_goes_back(const trace_track *k, int64_t start, int64_t dur)
{
    if (!k->count)
        return false;
    int64_t last = trace_start(k, k->count - 1);
    return start <= last && (start < last || dur > trace_dur(k, k->count - 1));
}

static int on_events(sink *s, const sink_event *e, size_t n)
{
    trace *t = trace_of_sink(s);
    for (size_t i = 0; i < n; i++, e++) {
        if (e->track >= t->track_count || e->kind >= t->kind_count)
            return vp_fail(VP_EARG, "no track %u or kind %u", e->track, e->kind);
        trace_track *k = &t->tracks[e->track];
        bool aligned = e->aligned_start_ps != SINK_NO_TIME;
        size_t at = k->count;
        if (at == k->own.cap || k->own.borrowed)
            VP_TRY(track_reserve(k, at + 1));
        if (aligned && !k->aligned.v)
            VP_TRY(add_aligned(k));
        k->own_clock = k->own_clock || aligned;
        if (k->sorted && event_goes_back(k, e->start_ps, e->dur_ps))
            k->sorted = false;
        VP_TRY(trace_times_put(&k->own, at, e->start_ps, e->dur_ps, e->kind));
        if (k->aligned.v)
            VP_TRY(trace_times_put(&k->aligned, at, aligned ? e->aligned_start_ps : e->start_ps,
                                   aligned ? sink_dur_beside(e->aligned_dur_ps, e->dur_ps) : 0, 0));
        if (e->extra)
            VP_TRY(put_extra(k, at, e->extra));
        k->count = at + 1;
    }
    t->event_count += n;
    return 0;
}

static bool is_longer(const sink_longest *a, const sink_longest *b)
{
    return a->dur_ps > b->dur_ps || (a->dur_ps == b->dur_ps && a->start_ps < b->start_ps);
}

static int put_longest(trace_track *k, const sink_longest *l)
{
    uint32_t at = vp_map_get(&k->longest_at, l->kind);
    if (at != VP_MAP_NONE) {
        if (is_longer(l, &k->longest[at]))
            k->longest[at] = *l;
        return 0;
    }
    VP_TRY(vp_grow(&k->longest, &k->longest_cap, k->longest_n + 1, sizeof *l, VP_INTERN_MAX));
    VP_TRY(vp_map_set(&k->longest_at, l->kind, (uint32_t)k->longest_n));
    k->longest[k->longest_n++] = *l;
    return 0;
}

/* Stores host times of the longest events. All events need them to find the module of a kind
 * without one, or if only a part of the track has a device clock. */
static int keep_longest(trace *t, trace_track *k, const sink_columns *c)
{
    t->places_missing = t->places_missing || (k->count && k->own_clock != (c->longest != NULL));
    k->own_clock = true;
    for (size_t i = 0; i < c->longest_n; i++) {
        t->places_missing = t->places_missing || !t->kinds[c->longest[i].kind].module;
        VP_TRY(put_longest(k, &c->longest[i]));
    }
    return 0;
}

/* Reserves memory for further events. A track without events uses the reader's buffer, where the
 * events are; a track in its own memory continues there. */
static int open_columns(trace_track *k, const sink_columns *c)
{
    const sink_buffer *buffer = c->buffer;
    if (!k->count && !k->own.v && buffer)
        VP_TRY(trace_times_borrow(&k->own, buffer->own, buffer->cap));
    bool here = k->own.borrowed && k->own.v == buffer->own;
    if (here && !k->count && c->aligned.n)
        VP_TRY(trace_times_borrow(&k->aligned, buffer->aligned, buffer->cap));
    if (!here)
        VP_TRY(track_reserve(k, k->count + c->own.n));
    return c->aligned.n && !k->aligned.v ? add_aligned(k) : 0;
}

static int take_column_times(trace_times *t, size_t at, const sink_times *s)
{
    if (t->v + at != s->v)
        memmove(t->v + at, s->v, s->n * sizeof *t->v);
    return trace_times_take(t, at, s);
}

/* Appends events with one clock to the other clock. */
static int take_starts(trace_times *t, size_t at, const sink_times *s)
{
    sink_times starts = *s;
    starts.long_n = 0;
    sink_pack_beside(t->v + at, s->v, s->n);
    return trace_times_take(t, at, &starts);
}

static int on_columns(sink *s, const sink_columns *c)
{
    trace *t = trace_of_sink(s);
    if (c->track >= t->track_count)
        return vp_fail(VP_EARG, "no track %u", c->track);
    trace_track *k = &t->tracks[c->track];
    size_t at = k->count, n = c->own.n;
    if (!n)
        return 0;
    VP_TRY(open_columns(k, c));
    k->own_clock = k->own_clock || c->aligned.n;
    if (c->longest || k->longest)
        VP_TRY(keep_longest(t, k, c));
    k->sorted = k->sorted && c->sorted && !event_goes_back(k, c->own.first_ps, c->first_dur_ps);
    if (k->aligned.v)
        VP_TRY(c->aligned.n ? take_column_times(&k->aligned, at, &c->aligned)
                            : take_starts(&k->aligned, at, &c->own));
    VP_TRY(take_column_times(&k->own, at, &c->own));
    VP_TRY(trace_times_name_kinds(&k->own, at, n, c->kinds));
    for (size_t i = 0; i < c->value_n; i++)
        VP_TRY(
            trace_column_put(&k->attr[c->values[i].attr], at + c->values[i].event, c->values[i].v));
    k->count += n;
    t->event_count += n;
    return 0;
}

/* Makes the track the owner of its borrowed memory. */
static void on_settle(sink *s, uint32_t track, sink_buffer *buffer)
{
    trace_track *k = &trace_of_sink(s)->tracks[track];
    trace_times_keep(&k->own, &buffer->own);
    trace_times_keep(&k->aligned, &buffer->aligned);
}

static void on_skipped(sink *s, uint64_t n)
{
    trace_of_sink(s)->skipped_count += n;
}

static int on_quality(sink *s, const sink_quality *q)
{
    trace *t = trace_of_sink(s);
    t->partial = t->partial || q->partial;
    if (t->quality_count >= VP_QUALITY_MAX) {
        t->quality_dropped++;
        return 0;
    }
    VP_TRY(vp_grow(&t->quality, &t->quality_cap, (size_t)t->quality_count + 1, sizeof *t->quality,
                   VP_QUALITY_MAX));
    char *message = vp_arena_strndup(&t->arena, q->message.p, q->message.n);
    VP_NEED(message);
    t->quality[t->quality_count++] =
        (trace_quality){q->code, q->severity, message, q->event, q->byte, q->partial};
    return 0;
}

static void on_base(sink *s, int64_t unix_ns)
{
    trace_of_sink(s)->base_unix_ns = unix_ns;
}

static void on_capture(sink *s, int64_t start_ps, int64_t end_ps)
{
    trace_of_sink(s)->capture_start_ps = start_ps;
    trace_of_sink(s)->capture_end_ps = end_ps;
}

static void on_extent(sink *s, int64_t start_ps, int64_t end_ps)
{
    trace_of_sink(s)->extent_start_ps = start_ps;
    trace_of_sink(s)->extent_end_ps = end_ps;
}

static void on_origin(sink *s, int64_t file_ns)
{
    trace_of_sink(s)->file_origin_ns = file_ns;
}

int trace_new(trace **out)
{
    trace *t = vp_calloc(1, sizeof *t);
    VP_NEED(t);
    t->sink = (sink){
        on_process, on_track,  on_track_update, on_process_update, on_kind,          on_events,
        on_columns, on_settle, on_skipped,      on_quality,        on_base,          on_capture,
        on_extent,  on_origin, trace_put_arg,   trace_put_meta,    trace_put_program};
    t->base_unix_ns = t->capture_start_ps = t->capture_end_ps = SINK_NO_TIME;
    t->extent_start_ps = t->extent_end_ps = SINK_NO_TIME;
    vp_arena_init(&t->arena);
    vp_map_init(&t->arg_at);
    int rc = vp_intern_init(&t->names, &t->arena);
    if (rc < 0) {
        vp_free(t);
        return rc;
    }
    *out = t;
    return 0;
}

void trace_free(trace *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->track_count; i++) {
        trace_track *k = &t->tracks[i];
        trace_times_free(&k->own);
        trace_times_free(&k->aligned);
        vp_free(k->longest);
        vp_map_free(&k->longest_at);
        for (size_t a = 0; a < SINK_ATTRS; a++)
            trace_column_free(k->attr[a]);
    }
    vp_free(t->processes);
    vp_free(t->tracks);
    vp_free(t->kinds);
    vp_free(t->quality);
    vp_free(t->programs);
    trace_free_args(t);
    vp_intern_free(&t->names);
    vp_arena_free(&t->arena);
    vp_free(t);
}

static void chain_tracks(trace *t)
{
    for (uint32_t p = 0; p < t->process_count; p++)
        t->processes[p].first_track = TRACE_NO_TRACK;
    for (uint32_t i = t->track_count; i-- > 0;) {
        trace_process *p = &t->processes[t->tracks[i].process];
        t->tracks[i].next = p->first_track;
        p->first_track = i;
    }
}

static int sort_track(void *ctx, uint32_t i)
{
    trace *t = ctx;
    return t->tracks[i].sorted ? 0 : trace_sort_track(&t->tracks[i], t->threads);
}

int trace_seal_by(trace *t, int threads)
{
    chain_tracks(t);
    trace_sort_programs(t);
    t->threads = threads;
    VP_TRY(vp_each(t->event_count < SORT_ALONE ? 1 : threads, t->track_count, sort_track, t));
    VP_TRY(trace_place_modules(t));
    return t->graphs ? trace_place_graphs(t) : 0;
}

int trace_seal(trace *t)
{
    return trace_seal_by(t, 1);
}

void trace_forget(trace *t, sink_attr a)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        trace_column_free(t->tracks[i].attr[a]);
        t->tracks[i].attr[a] = NULL;
    }
}

int trace_track_keep(trace_track *k, const uint32_t *order, size_t n, trace_times *own,
                     trace_times *aligned)
{
    trace_times_free(&k->own);
    trace_times_free(&k->aligned);
    k->own = *own;
    k->aligned = *aligned;
    *own = *aligned = (trace_times){0};
    k->count = n;
    for (size_t a = 0; a < SINK_ATTRS; a++)
        if (k->attr[a])
            VP_TRY(trace_column_permute(&k->attr[a], order, n));
    return trace_sort_track(k, 1);
}

bool trace_has_device(const trace *t)
{
    for (uint32_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_OPS && trace_track_counts(t, &t->tracks[i]))
            return true;
    return false;
}
