#include "trace/timeline/tl_find.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/links/launch_list.h"
#include "trace/timeline/tl_slices.h"

const tl_row *tl_row_of(const tl_index *x, const tl_event *e)
{
    if (e->track >= x->track_count || e->row >= x->tracks[e->track].row_count)
        return NULL;
    const tl_row *r = &x->rows[x->tracks[e->track].first_row + e->row];
    return e->index < r->count ? r : NULL;
}

/* ---- By text -------------------------------------------------------------------------------- */

static char *lower_copy(vp_str s)
{
    char *z = vp_strndup(s.p, s.n);
    for (size_t i = 0; z && i < s.n; i++)
        z[i] = vp_lower(z[i]);
    return z;
}

/* By kind: whether its texts contain `lower`. */
static uint8_t *match_kinds(const tl_index *x, vp_str lower, uint64_t *total)
{
    uint8_t *hit = vp_calloc((size_t)x->kind_count + 1, 1);
    *total = 0;
    for (uint32_t i = 0; hit && i < x->kind_count; i++) {
        const vp_sid in[] = {x->kinds[i].name, x->kinds[i].scope, x->kinds[i].source};
        for (size_t k = 0; k < sizeof in / sizeof *in && !hit[i]; k++) {
            vp_str text = tl_text(x, in[k]);
            hit[i] = text.n && vp_str_find_nocase(text, lower) < text.n;
        }
        *total += hit[i] ? x->kinds[i].calls : 0;
    }
    return hit;
}

/* The start of the search: events at `ps` in rows up to `seq` are skipped. */
typedef struct origin {
    int64_t ps;
    size_t seq;     /* of x->rows */
    uint64_t index; /* in that row */
    bool exact;     /* false: no event at ps is skipped */
} origin;

static size_t seq_of(const tl_index *x, const tl_event *e)
{
    return (size_t)x->tracks[e->track].first_row + e->row;
}

/* The first event of row `seq` after the start of the search, in the global order. */
static uint64_t first_event_after_origin(const tl_index *x, size_t seq, const origin *o)
{
    const tl_row *r = &x->rows[seq];
    if (!r->count)
        return 0;
    if (!o->exact)
        return tl_first_from(r, 0, o->ps);
    if (seq == o->seq)
        return o->index + 1;
    return tl_first_from(r, 0, seq < o->seq ? o->ps + 1 : o->ps);
}

static void take_found_event(const tl_index *x, tl_found *f, int64_t *best, size_t seq, uint64_t i)
{
    const tl_row *r = &x->rows[seq];
    *best = tl_start(r, i);
    f->any = true;
    f->event = (tl_event){r->track, (uint32_t)(seq - x->tracks[r->track].first_row), i};
}

static void find_forwards(tl_found *f, const tl_index *x, const uint8_t *hit, const origin *o)
{
    int64_t best = INT64_MAX;
    for (size_t seq = 0; seq < x->row_count; seq++) {
        const tl_row *r = &x->rows[seq];
        for (uint64_t i = first_event_after_origin(x, seq, o); i < r->count; i++) {
            if (i % TL_BLOCK == 0 && r->blocks[i / TL_BLOCK].base_ps >= best)
                break;
            if (!hit[tl_kind_of(r, i)])
                continue;
            if (tl_start(r, i) < best)
                take_found_event(x, f, &best, seq, i);
            break;
        }
    }
}

static void find_backwards(tl_found *f, const tl_index *x, const uint8_t *hit, const origin *o)
{
    int64_t best = INT64_MIN;
    for (size_t seq = 0; seq < x->row_count; seq++) {
        const tl_row *r = &x->rows[seq];
        uint64_t i = o->exact && seq == o->seq ? o->index : first_event_after_origin(x, seq, o);
        for (; i > 0; i--) {
            if (!hit[tl_kind_of(r, i - 1)]) {
                if ((i - 1) % TL_BLOCK == 0 && tl_start(r, i - 1) < best)
                    break;
                continue;
            }
            if (tl_start(r, i - 1) >= best) /* ties: the last in the global order */
                take_found_event(x, f, &best, seq, i - 1);
            break;
        }
    }
}

int tl_find(tl_found *out, const tl_index *x, const tl_query *q)
{
    VP_CLEANUP(vp_free_ptr) char *lower = lower_copy(q->text);
    VP_NEED(lower);
    *out = (tl_found){0};
    VP_CLEANUP(vp_free_ptr)
    uint8_t *hit = match_kinds(x, (vp_str){lower, q->text.n}, &out->total);
    VP_NEED(hit);
    origin o = {.ps = q->at_ps};
    const tl_row *r = q->after ? tl_row_of(x, q->after) : NULL;
    if (r)
        o = (origin){tl_start(r, q->after->index), seq_of(x, q->after), q->after->index, true};
    if (!out->total)
        return 0;
    (q->backwards ? find_backwards : find_forwards)(out, x, hit, &o);
    return 0;
}

/* ---- Related events -----------------------------------------------------------------------------
 */

/* The event of a row with this order; r->count: it is in another row. */
static uint64_t index_in_row(const tl_row *r, uint32_t order)
{
    uint64_t low = 0, high = r->count;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (tl_order(r, mid) < order)
            low = mid + 1;
        else
            high = mid;
    }
    return low < r->count && tl_order(r, low) == order ? low : r->count;
}

static tl_event event_at(const tl_index *x, uint32_t track, uint32_t order)
{
    const tl_track *k = &x->tracks[track];
    uint32_t row = 0;
    uint64_t i = index_in_row(&x->rows[k->first_row], order);
    while (i == x->rows[k->first_row + row].count && row + 1 < k->row_count)
        i = index_in_row(&x->rows[k->first_row + ++row], order);
    return (tl_event){track, row, i};
}

static bool is_same_event(const tl_event *a, const tl_event *b)
{
    return a->track == b->track && a->row == b->row && a->index == b->index;
}

typedef struct linked {
    tl_event *out;
    size_t n, max;
    const tl_index *x;
    const tl_event *of;
} linked;

/* Returns 1 once `max` events are found. */
static int linked_add(linked *l, const tl_event *e)
{
    if (l->n < l->max && !is_same_event(e, l->of))
        l->out[l->n++] = *e;
    return l->n == l->max;
}

/* Calls `take` for the events with value v of an attribute, until it returns other than 0. */
static int each_with_value(const tl_index *x, sink_attr a, int64_t v,
                           int (*take)(void *ctx, const tl_event *e), void *ctx)
{
    for (uint32_t t = 0; t < x->track_count; t++) {
        const trace_column *c = x->tracks[t].attr[a];
        for (size_t i = trace_column_next(c, 0); i != SIZE_MAX; i = trace_column_next(c, i + 1)) {
            if (trace_column_get(c, i, SINK_NO_VALUE) != v)
                continue;
            tl_event e = event_at(x, t, (uint32_t)i);
            int rc = take(ctx, &e);
            if (rc)
                return rc < 0 ? rc : 0;
        }
    }
    return 0;
}

static int take_linked(void *ctx, const tl_event *e)
{
    return linked_add(ctx, e);
}

/* ---- Launches and their ops ----------------------------------------------------------------- */

/* Ids may be reused: trace/links decides which launch is an op's. */
typedef struct launch_links {
    linked *to;
    int64_t id;
    launch_list launches; /* value: index in `events` */
    tl_event *events;
    size_t cap;
    const launch_entry *launch; /* of `to->of`; NULL: the file has none */
} launch_links;

static bool is_op_event(const tl_index *x, const tl_event *e)
{
    return x->tracks[e->track].role == SINK_ROLE_OPS;
}

static int64_t event_start(const tl_index *x, const tl_event *e)
{
    const tl_row *r = tl_row_of(x, e);
    return r ? tl_start(r, e->index) : 0;
}

static int take_launch(void *ctx, const tl_event *e)
{
    launch_links *l = ctx;
    size_t n = l->launches.n;
    if (is_op_event(l->to->x, e))
        return 0;
    VP_TRY(vp_grow(&l->events, &l->cap, n + 1, sizeof *l->events, UINT32_MAX - 1));
    l->events[n] = *e;
    return launch_list_add(&l->launches, l->id, event_start(l->to->x, e), (uint32_t)n);
}

static const launch_entry *launch_of(const launch_links *l, const tl_event *e)
{
    if (is_op_event(l->to->x, e))
        return launch_list_find(&l->launches, l->id, event_start(l->to->x, e));
    for (size_t i = 0; i < l->launches.n; i++)
        if (is_same_event(&l->events[l->launches.v[i].value], e))
            return &l->launches.v[i];
    return NULL;
}

static int take_op_of_launch(void *ctx, const tl_event *e)
{
    launch_links *l = ctx;
    return is_op_event(l->to->x, e) && launch_of(l, e) == l->launch ? linked_add(l->to, e) : 0;
}

static int add_by_launch(linked *to, int64_t id)
{
    launch_links l = {.to = to, .id = id};
    launch_list_init(&l.launches);
    int rc = each_with_value(to->x, SINK_CORRELATION, id, take_launch, &l);
    if (rc >= 0)
        rc = launch_list_finish(&l.launches);
    if (rc >= 0) {
        l.launch = launch_of(&l, to->of);
        if (l.launch)
            linked_add(to, &l.events[l.launch->value]);
        rc = each_with_value(to->x, SINK_CORRELATION, id, take_op_of_launch, &l);
    }
    launch_list_free(&l.launches);
    vp_free(l.events);
    return rc;
}

int tl_linked(tl_event *out, size_t max, size_t *n, const tl_index *x, const tl_event *e)
{
    const tl_row *r = tl_row_of(x, e);
    linked l = {.out = out, .max = max, .x = x, .of = e};
    int64_t id = r ? tl_attr(x, r, SINK_CORRELATION, e->index) : SINK_NO_VALUE;
    int64_t flow_out = r ? tl_attr(x, r, SINK_FLOW_OUT, e->index) : SINK_NO_VALUE;
    int64_t flow_in = r ? tl_attr(x, r, SINK_FLOW_IN, e->index) : SINK_NO_VALUE;
    *n = 0;
    if (id != SINK_NO_VALUE)
        VP_TRY(add_by_launch(&l, id));
    if (flow_out != SINK_NO_VALUE)
        VP_TRY(each_with_value(x, SINK_FLOW_IN, flow_out, take_linked, &l));
    if (flow_in != SINK_NO_VALUE)
        VP_TRY(each_with_value(x, SINK_FLOW_OUT, flow_in, take_linked, &l));
    *n = l.n;
    return 0;
}
