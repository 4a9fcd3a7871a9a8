/* The content of one event of an XSpace in a .pftrace. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/pftrace/pft_xspace.h"
#include "trace/export/shared/times.h"

/* Names of additional arguments, after those of the file's keys. */
enum { ARG_DURATION_PS = 1, ARG_START_PS };

int pft_told_make(pft_told *t, const xj_names *n)
{
    *t = (pft_told){0};
    t->metas = vp_calloc(n->plane->meta_count + 1, sizeof *t->metas);
    t->keys = vp_calloc((size_t)n->key_count + ARG_START_PS + 1, sizeof *t->keys);
    t->shared = vp_calloc(n->plane->meta_count + 1, sizeof *t->shared);
    VP_NEED(t->metas && t->keys && t->shared);
    return 0;
}

void pft_told_free(pft_told *t)
{
    vp_free(t->metas);
    vp_free(t->shared);
    vp_free(t->keys);
    vp_free(t->texts);
    *t = (pft_told){0};
}

/* The id of a name in this sequence, interned on first use. */
static uint64_t tell_name_once(pft_xspace *x, uint32_t *told, pft_name_kind kind, uint32_t index,
                               vp_str text)
{
    if (told[index] != x->writer.sequence) {
        told[index] = x->writer.sequence;
        pft_tell(&x->writer, kind, (uint64_t)index + 1, text);
    }
    return (uint64_t)index + 1;
}

static int known_text(pft_xspace *x, const xj_arg *arg, uint64_t name)
{
    size_t before = x->told.text_cap;
    VP_TRY(vp_grow(&x->told.texts, &x->told.text_cap, (size_t)arg->known + 1, sizeof *x->told.texts,
                   VP_INTERN_MAX));
    if (x->told.text_cap > before)
        memset(x->told.texts + before, 0, (x->told.text_cap - before) * sizeof *x->told.texts);
    pft_arg_known(&x->writer, name,
                  tell_name_once(x, x->told.texts, PFT_ARG_TEXT, arg->known, arg->text));
    return 0;
}

static int put_event_arg(pft_xspace *x, const xj_arg *arg)
{
    pft_writer *w = &x->writer;
    uint64_t name =
        tell_name_once(x, x->told.keys, PFT_ARG_NAME, arg->key, x->walk.names.keys[arg->key].text);
    switch (arg->type) {
    case XJ_INT:
        pft_arg_int(w, name, (int64_t)arg->u);
        return 0;
    case XJ_UINT:
        pft_arg_uint(w, name, arg->u);
        return 0;
    case XJ_DOUBLE:
        pft_arg_double(w, name, arg->u);
        return 0;
    default:
        if (arg->known)
            return known_text(x, arg, name);
        pft_arg_text(w, name, arg->text);
        return 0;
    }
}

/* The format has whole ns. The exact length in ps, and the remainder of the start, become
 * arguments. */
static void put_sub_ns_rest(pft_xspace *x, const xj_event *e)
{
    int64_t length = e->duration_ps > 0 ? e->duration_ps : 0, rest = ex_rest_ps(e->offset_ps);
    if (length % 1000)
        pft_arg_int(&x->writer,
                    tell_name_once(x, x->told.keys, PFT_ARG_NAME,
                                   x->walk.names.key_count + ARG_DURATION_PS - 1,
                                   VP_STR("duration_ps")),
                    length);
    if (rest)
        pft_arg_int(&x->writer,
                    tell_name_once(x, x->told.keys, PFT_ARG_NAME,
                                   x->walk.names.key_count + ARG_START_PS - 1,
                                   VP_STR("start_rest_ps")),
                    rest);
}

/* An allocator's memory is a track of its process, described before its first value. */
static int put_memory_track(pft_xspace *x, const xj_track *t, int64_t at_ns)
{
    const xj_plane *pl = &x->walk.layout.planes[t->plane];
    VP_CLEANUP(vp_buf_free) vp_buf name;
    int64_t used;
    vp_buf_init(&name, XJ_NAME_MAX + 64);
    int rc = xj_memory_of(&x->walk.names.facts, pl->device, &name, &used);
    if (rc <= 0)
        return rc;
    uint64_t key = vp_mix(vp_hash(name.p, name.n, 0) ^ pl->pid);
    uint32_t number = vp_map_get(&x->memories.at, key);
    if (number == VP_MAP_NONE) {
        number = x->memories.count++;
        VP_TRY(vp_map_set(&x->memories.at, key, number));
        vp_buf_puts(&name, ", bytes in use");
        VP_TRY(pft_put_track(&x->writer, &(pft_track){.uuid = PFT_TRACK_MEMORY | number,
                                                      .parent = pft_process_track(pl->owner),
                                                      .name = vp_buf_view(&name),
                                                      .kind = PFT_COUNTER,
                                                      .bytes = true}));
    }
    pft_counter(&x->writer, PFT_TRACK_MEMORY | number, used);
    return pft_put_event(&x->writer, at_ns);
}

/* True if the event overrides an argument of its metadata. Both are sorted. */
static bool contradicts_metadata(const xj_names *n, uint32_t count, const xj_meta *m)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < count; i++)
        mask |= xj_mask(n->args[i].key);
    if (!(mask & m->mask))
        return false;
    for (uint32_t i = 0, k = 0; i < count && k < m->arg_count;) {
        if (n->args[i].key == m->args[k].key)
            return true;
        if (n->args[i].key < m->args[k].key)
            i++;
        else
            k++;
    }
    return false;
}

static bool is_said(const xj_names *n, uint32_t count, uint32_t key)
{
    for (uint32_t i = 0; i < count; i++)
        if (n->args[i].key == key)
            return true;
    return false;
}

/* The metadata's arguments except those that the event overrides. */
static int put_other_meta_args(pft_xspace *x, const xj_meta *m, uint32_t count)
{
    for (uint32_t i = 0; i < m->arg_count; i++)
        if (!is_said(&x->walk.names, count, m->args[i].key))
            VP_TRY(put_event_arg(x, &m->args[i]));
    return 0;
}

/* Thirteen of a TPU op's fifteen arguments are those of its metadata: they are encoded once, and
 * their names interned once per sequence. */
static int put_shared(pft_xspace *x, const xj_meta *m, uint32_t count)
{
    pft_shared *s = &x->told.shared[m - x->walk.names.meta];
    vp_buf *b = &x->writer.event;
    size_t before = b->n;
    if (contradicts_metadata(&x->walk.names, count, m))
        return put_other_meta_args(x, m, count);
    if (s->sequence == x->writer.sequence)
        return vp_buf_str(b, s->bytes);
    VP_TRY(put_other_meta_args(x, m, 0));
    s->sequence = x->writer.sequence;
    if (s->bytes.p || b->status < 0)
        return b->status;
    char *copy = vp_arena_strndup(&x->walk.names.arena, b->p + before, b->n - before);
    VP_NEED(copy);
    s->bytes = (vp_str){copy, b->n - before};
    return 0;
}

/* A step_name among the arguments replaces the name. */
static vp_str step_name_arg(const xj_names *n, const xj_arg *args, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (n->keys[args[i].key].step && args[i].type <= XJ_TEXT)
            return args[i].text;
    return VP_STR_NONE;
}

static void put_event_name(pft_xspace *x, const xj_meta *m, uint32_t count)
{
    const xj_names *n = &x->walk.names;
    vp_str step = step_name_arg(n, n->args, count);
    if (!step.n && m->step)
        step = step_name_arg(n, m->args, m->arg_count);
    if (step.n)
        pft_event_text(&x->writer, step);
    else
        pft_event_name(&x->writer, tell_name_once(x, x->told.metas, PFT_EVENT_NAME,
                                                  (uint32_t)(m - n->meta), m->name));
}

int pft_xspace_event(pft_xspace *x, const xj_track *t, const xj_event *e, const xj_span *span,
                     uint64_t track)
{
    xj_names *n = &x->walk.names;
    xj_flow flow;
    uint32_t count = 0;
    const xj_meta *m = xj_names_meta(n, e->metadata_id);
    VP_TRY(m ? 0 : VP_ENOMEM);
    VP_TRY(xj_names_stats(n, &count, e));
    VP_TRY(xj_flow_of(&x->walk.flows, &n->facts, x->walk.layout.planes[t->plane].device, &flow));
    pft_slice_begin(&x->writer, track);
    put_event_name(x, m, count);
    VP_TRY(put_shared(x, m, count));
    for (uint32_t i = 0; i < count; i++)
        VP_TRY(put_event_arg(x, &n->args[i]));
    put_sub_ns_rest(x, e);
    if (flow.out || flow.in)
        pft_flow(&x->writer, flow.id);
    VP_TRY(pft_put_event(&x->writer, span->start));
    VP_TRY(pft_ends_add(&x->ends, span->end, track));
    return e->duration_ps <= 0 ? put_memory_track(x, t, span->start) : 0;
}
