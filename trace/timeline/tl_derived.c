#include "trace/timeline/tl_derived.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

typedef struct maker {
    trace *t;
    const derived *d;
    vp_map kinds; /* of the current track, by name and text */
    uint8_t *hue; /* by kind */
    size_t hue_cap;
} maker;

static int add_derived_groups(maker *m)
{
    for (size_t i = 0; i < m->d->group_count; i++) {
        VP_CLEANUP(vp_buf_free) vp_buf name;
        uint32_t id;
        vp_buf_init(&name, VP_JSON_EVENT_MAX);
        VP_TRY(derived_group_name(&name, m->d, &m->d->groups[i]));
        sink_process p = {.name = vp_buf_view(&name),
                          .id = (int64_t)i,
                          .kind = SINK_PROCESS_OTHER,
                          .ordinal = -1};
        VP_TRY(m->t->sink.process(&m->t->sink, &p, &id));
    }
    return 0;
}

static uint8_t derived_hue(const derived *d, derived_kind kind, const derived_slice *s)
{
    uint8_t part = 0;
    if (kind != DERIVED_PARTS) {
        vp_str text = derived_text(d, kind == DERIVED_IDLE ? s->text[0] : s->name);
        return (uint8_t)vp_fingerprint(text.p, text.n, 0);
    }
    while (part + 1 < DERIVED_PART_COUNT &&
           !vp_str_eq(derived_text(d, s->name), vp_str_of(derived_part_words[part])))
        part++;
    return part;
}

static int derived_kind_of(maker *m, derived_kind kind, const derived_slice *s, uint32_t *id)
{
    uint64_t key = (uint64_t)s->name << 32 | s->text[0];
    *id = vp_map_get(&m->kinds, key);
    if (*id != VP_MAP_NONE)
        return 0;
    bool scope = kind == DERIVED_SCOPES || kind == DERIVED_SLOWEST;
    sink_kind k = {.name = derived_text(m->d, s->name),
                   .scope = scope ? derived_text(m->d, s->text[0]) : VP_STR_NONE,
                   .category = derived_text(m->d, kind == DERIVED_IDLE    ? s->text[0]
                                                  : kind == DERIVED_PARTS ? s->name
                                                                          : 0),
                   .program_id = SINK_UNKNOWN,
                   .bytes = SINK_UNKNOWN,
                   .flops = SINK_UNKNOWN,
                   .group_size = SINK_UNKNOWN};
    VP_TRY(m->t->sink.kind(&m->t->sink, &k, id));
    VP_TRY(vp_grow(&m->hue, &m->hue_cap, (size_t)*id + 1, 1, UINT32_MAX));
    m->hue[*id] = derived_hue(m->d, kind, s);
    return vp_map_set(&m->kinds, key, *id);
}

static int add_slice(maker *m, const derived_track *k, uint32_t track, size_t i)
{
    const derived_slice *s = &m->d->slices[i];
    sink_event e = {.start_ps = s->start_ps + m->d->groups[k->group].shift_ps,
                    .dur_ps = s->end_ps - s->start_ps,
                    .aligned_start_ps = SINK_NO_TIME,
                    .track = track};
    VP_TRY(derived_kind_of(m, k->kind, s, &e.kind));
    return m->t->sink.events(&m->t->sink, &e, 1);
}

static int add_derived_track(maker *m, const derived_track *k)
{
    sink_track as = {.process = k->group,
                     .name = derived_text(m->d, k->name),
                     .id = (int64_t)m->t->track_count + 1,
                     .role = SINK_ROLE_DERIVED};
    uint32_t id;
    VP_TRY(m->t->sink.track(&m->t->sink, &as, &id));
    vp_map_init(&m->kinds);
    int rc = 0;
    for (size_t i = 0; i < k->count && rc >= 0; i++)
        rc = add_slice(m, k, id, k->first + i);
    vp_map_free(&m->kinds);
    return rc;
}

static int make_derived_index(tl_index **out, maker *m)
{
    VP_TRY(add_derived_groups(m));
    for (size_t i = 0; i < m->d->track_count; i++)
        VP_TRY(add_derived_track(m, &m->d->tracks[i]));
    VP_TRY(trace_seal(m->t));
    VP_TRY(tl_build(out, m->t));
    for (uint32_t i = 0; i < (*out)->kind_count; i++)
        (*out)->kinds[i].hue = m->hue[i];
    return 0;
}

int tl_build_derived(tl_index **out, const derived *d, const tl_index *beside)
{
    maker m = {.d = d};
    VP_TRY(trace_new(&m.t));
    int rc = make_derived_index(out, &m);
    trace_free(m.t);
    vp_free(m.hue);
    if (rc < 0)
        return rc;
    (*out)->first_track = beside->track_count;
    (*out)->first_kind = beside->kind_count;
    return 0;
}

/* Both have the slices of a track in the same order: start asc, end desc, then insertion. */
const derived_note *tl_derived_note(const tl_index *x, const derived *d, const tl_event *e)
{
    return &d->notes[d->tracks[e->track].first + tl_order(tl_row_of(x, e), e->index)];
}
