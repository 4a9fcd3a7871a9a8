/* The launches of all device ops, as trace/links found them: by the correlation id and
 * start of an op, which an exporter finds in the file, too. One pass over launches and ops. */
#include "trace/analyze/derived/derive.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/links/launch_list.h"

typedef struct placing {
    derived *out;
    const trace *t;
    uint32_t *place; /* by kind: number + 1; 0: not asked yet */
    launch_list launches;
    vp_buf text;
} placing;

static int put_text(placing *p, vp_sid *out, vp_str text)
{
    *out = 0;
    return text.n ? derived_name(p->out, out, text) : 0;
}

/* "nn.Module: Net_0/aten::linear/…" → "Net_0": a scope has a '/' only between components. */
static int put_modules(placing *p, vp_sid *out, vp_str scope)
{
    static const vp_str module = VP_STR_INIT("nn.Module: ");
    p->text.n = 0;
    while (scope.n) {
        size_t end = vp_str_find(scope, VP_STR("/"));
        vp_str part = vp_str_head(scope, end);
        scope = vp_str_skip(scope, end + 1);
        if (!vp_str_starts(part, module))
            continue;
        if (p->text.n)
            vp_buf_putc(&p->text, '/');
        VP_TRY(vp_buf_str(&p->text, vp_str_skip(part, module.n)));
    }
    return put_text(p, out, vp_buf_view(&p->text));
}

static int place_of_kind(uint32_t *out, placing *p, uint32_t kind)
{
    const trace_kind *k = &p->t->kinds[kind];
    derived *d = p->out;
    derived_place x;
    *out = DERIVED_NO_PLACE;
    if (!k->is_linked)
        return 0;
    if (!p->place[kind]) {
        VP_TRY(put_text(p, &x.inner, trace_str(p->t, k->op_inner)));
        VP_TRY(put_text(p, &x.outer, trace_str(p->t, k->op_outer)));
        VP_TRY(put_modules(p, &x.module, trace_str(p->t, k->scope)));
        VP_TRY(put_text(p, &x.source, trace_str(p->t, k->source)));
        VP_TRY(vp_grow(&d->places, &d->place_cap, d->place_count + 1, sizeof x, UINT32_MAX - 1));
        d->places[d->place_count++] = x;
        p->place[kind] = (uint32_t)d->place_count;
    }
    *out = p->place[kind] - 1;
    return 0;
}

static int add_launches_of_track(placing *p, const trace_track *k)
{
    const trace_column *ids = k->attr[SINK_CORRELATION];
    for (size_t i = trace_column_next(ids, 0); i < k->count; i = trace_column_next(ids, i + 1))
        VP_TRY(launch_list_add(&p->launches, trace_column_get(ids, i, SINK_NO_VALUE),
                               trace_start(k, i), 0));
    return 0;
}

static int add_ops_of_track(placing *p, const trace_track *k)
{
    const trace_column *ids = k->attr[SINK_CORRELATION];
    for (size_t i = trace_column_next(ids, 0); i < k->count; i = trace_column_next(ids, i + 1)) {
        int64_t id = trace_column_get(ids, i, SINK_NO_VALUE), start = trace_aligned_start(k, i);
        const launch_entry *e = launch_list_find(&p->launches, id, start);
        derived_launched of;
        if (!e)
            continue;
        of.launch = (uint32_t)(e - p->launches.v);
        VP_TRY(place_of_kind(&of.place, p, trace_kind_of(k, i)));
        VP_TRY(derived_add_launched(p->out, id, start, e->start_ps, of));
    }
    return 0;
}

static int place_ops(placing *p)
{
    const trace *t = p->t;
    for (uint32_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_PLAIN)
            VP_TRY(add_launches_of_track(p, &t->tracks[i]));
    VP_TRY(launch_list_finish(&p->launches));
    for (uint32_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_OPS)
            VP_TRY(add_ops_of_track(p, &t->tracks[i]));
    return 0;
}

int derive_places(derived *d, const trace *t)
{
    bool linked = false;
    for (uint32_t i = 0; !linked && i < t->kind_count; i++)
        linked = t->kinds[i].is_linked;
    if (!linked)
        return 0;
    placing p = {.out = d, .t = t, .place = vp_calloc((size_t)t->kind_count + 1, sizeof *p.place)};
    VP_NEED(p.place);
    launch_list_init(&p.launches);
    vp_buf_init(&p.text, VP_INTERN_BYTES_MAX);
    int rc = place_ops(&p);
    launch_list_free(&p.launches);
    vp_buf_free(&p.text);
    vp_free(p.place);
    return rc;
}
