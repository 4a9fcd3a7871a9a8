/* /api/v1/session/ID/range: the sums of a range of a timeline by op, and with `analysis` the
 * breakdown of each device's time. */
#include "server/routes/routes.h"
#include "server/routes/timeline/range_ops.h"
#include "server/routes/timeline/timeline_query.h"
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/timeline/tl_range.h"

#define RANGE_ROWS 100u

typedef struct span {
    int64_t from_ps, until_ps;
} span;

static void put_range_op(vp_json *j, const tl_index *x, const range_ops *r, const range_op *o)
{
    vp_str category = vp_intern_get(&r->names, o->category);
    vp_json_begin_object(j);
    vp_json_kstr(j, "name", vp_intern_get(&r->names, o->label));
    if (o->group != RANGE_NO_GROUP)
        vp_json_kstr(j, "device", tl_text(x, x->groups[o->group].name));
    if (category.n)
        vp_json_kstr(j, "category", category);
    if (o->scope.n)
        vp_json_kstr(j, "scope", o->scope);
    vp_json_ki64(j, "names", o->names);
    vp_json_ki64(j, "calls", (int64_t)o->calls);
    vp_json_ki64(j, "total_ps", o->total_ps);
    vp_json_ki64(j, "self_ps", o->self_ps);
    vp_json_ki64(j, "of_ps", o->of_ps);
    vp_json_end_object(j);
}

static int put_sums(vp_json *j, const tl_index *x, const uint32_t *tracks, size_t n, span s)
{
    VP_CLEANUP(range_ops_free) range_ops sums;
    VP_TRY(range_ops_of(&sums, x, tracks, n, s.from_ps, s.until_ps));
    vp_json_ki64(j, "from_ps", s.from_ps);
    vp_json_ki64(j, "to_ps", s.until_ps);
    vp_json_ki64(j, "tracks", sums.tracks);
    vp_json_ki64(j, "events", (int64_t)sums.events);
    vp_json_ki64(j, "busy_ps", sums.busy_ps);
    vp_json_ki64(j, "covered_ps", sums.covered_ps);
    vp_json_ki64(j, "names", (int64_t)sums.n);
    vp_json_key(j, "rows");
    vp_json_begin_array(j);
    for (size_t i = 0; i < sums.n && i < RANGE_ROWS; i++)
        put_range_op(j, x, &sums, &sums.v[i]);
    vp_json_end_array(j);
    return 0;
}

/* Op tracks if there is a device, else all tracks; or the one of `track`. */
static int range_tracks(uint32_t *out, size_t *n, const tl_index *x, const http_req *rq)
{
    const char *given = http_query(rq, "track");
    uint64_t one;
    bool ops = false;
    *n = 0;
    if (given && (!vp_str_to_u64(vp_str_of(given), &one) || one >= x->track_count))
        return vp_fail(VP_ENOTFOUND, "no such track");
    for (uint32_t i = 0; i < x->track_count; i++)
        ops = ops || (x->tracks[i].role == SINK_ROLE_OPS && x->tracks[i].count);
    for (uint32_t i = 0; i < x->track_count; i++)
        if (given ? i == one : !ops || x->tracks[i].role == SINK_ROLE_OPS)
            out[(*n)++] = i;
    return 0;
}

/* ---- By the analysis ------------------------------------------------------------------------ */

/* Sums of lengths by class, or by cause of idle time. */
#define WORDS_MAX 16u
typedef struct by_word {
    vp_sid word[WORDS_MAX];
    int64_t ps[WORDS_MAX];
    size_t n;
} by_word;

static void by_word_add(by_word *w, vp_sid word, int64_t ps)
{
    size_t i = 0;
    while (i < w->n && w->word[i] != word)
        i++;
    if (i == WORDS_MAX)
        return;
    w->n += i == w->n;
    w->word[i] = word;
    w->ps[i] = tl_sum(w->ps[i], ps);
}

/* The slices of a track, cut to the range. */
static int put_range_track(vp_json *j, const char *key, const timeline_added *a, uint32_t track,
                           span s)
{
    const tl_index *x = a->x;
    by_word w = {0};
    tl_range sums;
    VP_TRY(tl_range_of(&sums, x, &track, 1, s.from_ps, s.until_ps));
    for (size_t i = 0; i < sums.count; i++)
        by_word_add(&w, x->kinds[sums.kinds[i].kind].category, sums.kinds[i].self_ps);
    tl_range_free(&sums);
    vp_json_key(j, key);
    vp_json_begin_array(j);
    for (size_t i = 0; i < w.n; i++) {
        vp_json_begin_object(j);
        vp_json_kstr(j, "name", tl_text(x, w.word[i]));
        vp_json_ki64(j, "ps", w.ps[i]);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
    return 0;
}

/* The time class track of a device, and the idle track that follows in its group. */
static int put_range_device(vp_json *j, const timeline_added *a, uint32_t band, span s)
{
    const derived *d = a->tracks;
    const derived_group *g = &d->groups[d->tracks[band].group];
    uint32_t idle = band + 1;
    vp_json_begin_object(j);
    vp_json_kstr(j, "device", derived_text(d, g->name));
    vp_json_kbool(j, "own_clock", g->own_clock);
    VP_TRY(put_range_track(j, "breakdown", a, band, s));
    if (idle < d->track_count && d->tracks[idle].kind == DERIVED_IDLE &&
        d->tracks[idle].group == d->tracks[band].group)
        VP_TRY(put_range_track(j, "idle_causes", a, idle, s));
    vp_json_end_object(j);
    return 0;
}

static int put_range_devices(vp_json *j, const timeline_added *a, span s)
{
    int rc = 0;
    vp_json_key(j, "devices");
    vp_json_begin_array(j);
    for (uint32_t i = 0; i < a->x->track_count && rc >= 0; i++)
        if (a->tracks->tracks[i].kind == DERIVED_PARTS)
            rc = put_range_device(j, a, i, s);
    vp_json_end_array(j);
    return rc;
}

int route_timeline_range(http_req *rq)
{
    VP_CLEANUP(timeline_drop) timeline_asked a = {0};
    VP_CLEANUP(vp_free_ptr) uint32_t *tracks = NULL;
    span s;
    size_t n;
    vp_json j;
    vp_buf b;
    VP_TRY(timeline_ask(&a, rq));
    VP_TRY(timeline_window(&s.from_ps, &s.until_ps, a.x, rq));
    tracks = vp_calloc((size_t)a.x->track_count + 1, sizeof *tracks);
    VP_NEED(tracks);
    VP_TRY(range_tracks(tracks, &n, a.x, rq));
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    vp_json_init(&j, &b);
    vp_json_begin_object(&j);
    int rc = put_sums(&j, a.x, tracks, n, s);
    if (rc >= 0 && a.added)
        rc = put_range_devices(&j, a.added, s);
    vp_json_end_object(&j);
    vp_buf_putc(&b, '\n');
    if (rc < 0) {
        vp_buf_free(&b);
        return rc;
    }
    return http_json(rq, 200, &b);
}
