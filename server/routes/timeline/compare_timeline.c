/* /api/v1/compare/A/B/timeline: aligns two timelines: the steps of each run, pairs of tracks, and
 * the row of the comparison for each kind of event. Slices come from /api/v1/session/ID/slices. An
 * error of one run is returned in its place, and the other run is shown. */
#include "server/routes/routes.h"
#include "server/routes/site/site_query.h"
#include "server/routes/timeline/timeline_query.h"
#include "trace/analyze/compare/compare.h"
#include "trace/analyze/compare/compared_names.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/report/compare/compare_formats.h"
#include "trace/report/data/report_json.h"
#include "trace/timeline/tl_pairs.h"

/* Maximum number of tracks in the response. */
#define TOLD_MAX 20000u

typedef struct side {
    timeline_asked asked; /* without an index: the reason is in `error` */
    store_report *h;
    const vp_report *r;
    vp_error error;
} side;

typedef struct both {
    side a, b;
    vp_comparison *c; /* NULL: the reason is in `error`, or in that of a side */
    vp_error error;
    tl_pairs pairs;
    compared_names names_a, names_b;
} both;

static void drop_both(both *x)
{
    compared_names_free(&x->names_a);
    compared_names_free(&x->names_b);
    tl_pairs_free(&x->pairs);
    compare_free(x->c);
    for (side *s = &x->a; s; s = s == &x->a ? &x->b : NULL) {
        store_release(&s->h);
        timeline_drop(&s->asked);
    }
}

/* ---- Both runs ------------------------------------------------------------------------------ */

/* Stores the error of one run and returns 0, so that the other run is shown. */
static int keep_failure(vp_error *out, int rc)
{
    if (rc != VP_ECORRUPT && rc != VP_EUNSUPPORTED && rc != VP_EEMPTY && rc != VP_EIO &&
        rc != VP_EREFUSED)
        return rc;
    *out = *vp_error_last();
    out->code = rc;
    return 0;
}

static int load_timeline_side(side *s, const http_req *rq, const char *host)
{
    const store_wanted w = {VP_GROUP_NAME, VP_DEPTH_FULL, VP_UNKNOWN, VP_WHERE_DEVICE};
    const store_asker who = site_asker(rq);
    timeline_asked *a = &s->asked;
    int rc = timeline_index_of(a, rq, host);
    if (rc >= 0)
        rc = store_get(&s->h, site_of(rq)->store, a->c, a->s, &w, &who);
    if (rc >= 0)
        s->r = store_report_of(s->h);
    return rc < 0 ? keep_failure(&s->error, rc) : 0;
}

static int look_at_both(both *x, const http_req *rq)
{
    VP_TRY(site_session_at(&x->a.asked.c, &x->a.asked.s, rq, 0));
    VP_TRY(site_session_at(&x->b.asked.c, &x->b.asked.s, rq, 1));
    VP_TRY(load_timeline_side(&x->a, rq, http_query(rq, "host_a")));
    VP_TRY(load_timeline_side(&x->b, rq, http_query(rq, "host_b")));
    if (x->a.asked.x && x->b.asked.x)
        VP_TRY(tl_pair(&x->pairs, x->a.asked.x, x->b.asked.x));
    if (!x->a.r || !x->b.r)
        return 0;
    int rc = compare_make(&x->c, x->a.r, x->b.r);
    if (rc < 0)
        return keep_failure(&x->error, rc);
    VP_TRY(compared_names_make(&x->names_a, x->c, false, x->a.r->has_devices));
    return compared_names_make(&x->names_b, x->c, true, x->b.r->has_devices);
}

/* ---- A run ---------------------------------------------------------------------------------- */

/* "window": from the first to the last op of a device; without a device, of all events. */
static void put_device_window(vp_json *j, const tl_index *x)
{
    int64_t from = INT64_MAX, until = INT64_MIN;
    for (uint32_t i = 0; i < x->track_count; i++) {
        const tl_track *t = &x->tracks[i];
        if (t->role != SINK_ROLE_OPS || !t->count || !x->groups[t->group].has_ops)
            continue;
        from = t->start_ps < from ? t->start_ps : from;
        until = t->end_ps > until ? t->end_ps : until;
    }
    bool device = from <= until, any = x->start_ps <= x->end_ps;
    vp_json_key(j, "window");
    vp_json_begin_object(j);
    vp_json_kcstr(j, "of", device ? "device" : "trace");
    if (device)
        timeline_put_span(j, from, until);
    else
        timeline_put_span(j, any ? x->start_ps : 0, any ? x->end_ps : 0);
    vp_json_end_object(j);
}

/* "kinds": [[kind, row of "ops"], …] for kinds that have a row. */
static void put_kinds(vp_json *j, const both *x, const side *s, const compared_names *names)
{
    const tl_index *t = s->asked.x;
    vp_json_key(j, "kinds");
    vp_json_begin_array(j);
    for (uint32_t i = 0; x->c && i < t->kind_count; i++) {
        const tl_kind *k = &t->kinds[i];
        size_t row = k->is_op ? compared_row(names, tl_text(t, k->name), tl_text(t, k->category))
                              : x->c->op_count;
        if (row == x->c->op_count)
            continue;
        vp_json_begin_array(j);
        vp_json_i64(j, i);
        vp_json_u64(j, row);
        vp_json_end_array(j);
    }
    vp_json_end_array(j);
}

static void put_error(vp_json *j, const vp_error *e)
{
    char line[512];
    vp_json_kcstr(j, "error", e->code ? vp_error_line(e, line, sizeof line) : NULL);
}

static void put_timeline_side(vp_json *j, const char *key, const both *x, const side *s)
{
    const timeline_asked *a = &s->asked;
    bool many = a->s->host_count > 1;
    int64_t median = -1;
    vp_json_key(j, key);
    vp_json_begin_object(j);
    vp_json_kcstr(j, "id", a->s->id);
    vp_json_kcstr(j, "name", a->s->name);
    vp_json_kcstr(j, "host", a->s->host_count ? a->s->hosts[a->host].name : NULL);
    put_error(j, &s->error);
    if (a->x) {
        put_device_window(j, a->x);
        if (s->r)
            median = timeline_put_steps(j, a->x, s->r, many ? a->s->hosts[a->host].name : NULL);
        put_kinds(j, x, s, s == &x->a ? &x->names_a : &x->names_b);
    }
    vp_json_kcount(j, "median", median);
    vp_json_end_object(j);
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

/* The tracks of each group, in the order of the file. */
typedef struct chains {
    const tl_index *x; /* NULL: no such run */
    uint32_t *first, *next;
} chains;

static int make_chains(chains *out, const tl_index *x)
{
    *out = (chains){.x = x};
    if (!x)
        return 0;
    out->first = vp_realloc_array(NULL, (size_t)x->group_count + 1, sizeof *out->first);
    out->next = vp_realloc_array(NULL, (size_t)x->track_count + 1, sizeof *out->next);
    VP_NEED(out->first && out->next);
    for (uint32_t i = 0; i < x->group_count; i++)
        out->first[i] = TL_NO_MATE;
    for (uint32_t i = x->track_count; i-- > 0;)
        if (x->tracks[i].count) {
            out->next[i] = out->first[x->tracks[i].group];
            out->first[x->tracks[i].group] = i;
        }
    return 0;
}

static void drop_chains(chains *c)
{
    vp_free(c->first);
    vp_free(c->next);
}

typedef struct rows {
    vp_json *j;
    const both *x;
    const chains *a, *b;
    uint64_t told, beyond;
} rows;

static void put_mate_number(vp_json *j, uint32_t n)
{
    if (n == TL_NO_MATE)
        vp_json_null(j);
    else
        vp_json_i64(j, n);
}

static void put_row_pair(rows *o, uint32_t a, uint32_t b)
{
    if (o->told >= TOLD_MAX) {
        o->beyond++;
        return;
    }
    o->told++;
    vp_json_begin_array(o->j);
    put_mate_number(o->j, a);
    put_mate_number(o->j, b);
    vp_json_end_array(o->j);
}

static void put_group_name(vp_json *j, const char *key, const tl_index *x, uint32_t group)
{
    vp_json_key(j, key);
    if (group == TL_NO_MATE)
        vp_json_null(j);
    else
        vp_json_str(j, tl_text(x, x->groups[group].name));
}

/* A pair of groups; one of them can be TL_NO_MATE. */
static void put_group_pair(rows *o, uint32_t a, uint32_t b)
{
    const tl_pairs *p = &o->x->pairs;
    uint32_t first_a = a == TL_NO_MATE ? TL_NO_MATE : o->a->first[a];
    uint32_t first_b = b == TL_NO_MATE ? TL_NO_MATE : o->b->first[b];
    if ((first_a == TL_NO_MATE && first_b == TL_NO_MATE) || o->told >= TOLD_MAX)
        return;
    vp_json_begin_object(o->j);
    put_group_name(o->j, "a", o->a->x, a);
    put_group_name(o->j, "b", o->b->x, b);
    vp_json_kbool(o->j, "device",
                  a == TL_NO_MATE ? o->b->x->groups[b].has_ops : o->a->x->groups[a].has_ops);
    vp_json_key(o->j, "tracks");
    vp_json_begin_array(o->j);
    for (uint32_t i = first_a; i != TL_NO_MATE; i = o->a->next[i])
        put_row_pair(o, i, p->track_b ? p->track_b[i] : TL_NO_MATE);
    for (uint32_t i = first_b; i != TL_NO_MATE; i = o->b->next[i])
        if (!p->track_a || p->track_a[i] == TL_NO_MATE)
            put_row_pair(o, TL_NO_MATE, i);
    vp_json_end_array(o->j);
    vp_json_end_object(o->j);
}

static void put_groups_of(rows *o, bool device)
{
    const tl_pairs *p = &o->x->pairs;
    const tl_index *a = o->a->x, *b = o->b->x;
    for (uint32_t i = 0; a && i < a->group_count; i++)
        if (a->groups[i].has_ops == device)
            put_group_pair(o, i, p->group_b ? p->group_b[i] : TL_NO_MATE);
    for (uint32_t i = 0; b && i < b->group_count; i++)
        if (b->groups[i].has_ops == device && (!p->group_a || p->group_a[i] == TL_NO_MATE))
            put_group_pair(o, TL_NO_MATE, i);
}

static int put_row_pairs(vp_json *j, const both *x)
{
    VP_CLEANUP(drop_chains) chains a = {0};
    VP_CLEANUP(drop_chains) chains b = {0};
    VP_TRY(make_chains(&a, x->a.asked.x));
    VP_TRY(make_chains(&b, x->b.asked.x));
    rows o = {.j = j, .x = x, .a = &a, .b = &b};
    vp_json_key(j, "groups");
    vp_json_begin_array(j);
    put_groups_of(&o, true);
    put_groups_of(&o, false);
    vp_json_end_array(j);
    vp_json_ki64(j, "tracks_left_out", (int64_t)o.beyond);
    return 0;
}

/* ---- The answer ----------------------------------------------------------------------------- */

static int put_compared_timelines(vp_buf *b, const both *x)
{
    vp_json j;
    vp_json_init(&j, b);
    rep_json_head(&j, "view_profile.compare_timeline/1");
    put_error(&j, &x->error);
    vp_json_kbool(&j, "per_step", x->c && x->c->per_step);
    vp_json_kcount(&j, "threshold_ps", x->c ? x->c->threshold_ps : VP_UNKNOWN);
    put_timeline_side(&j, "a", x, &x->a);
    put_timeline_side(&j, "b", x, &x->b);
    VP_TRY(put_row_pairs(&j, x));
    vp_json_key(&j, "ops");
    vp_json_begin_array(&j);
    for (size_t i = 0; x->c && i < x->c->op_count; i++)
        rep_json_compared_op(&j, &x->c->ops[i]);
    vp_json_end_array(&j);
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}

int route_compare_timeline(http_req *rq)
{
    VP_CLEANUP(drop_both) both x = {0};
    vp_buf b;
    VP_TRY(look_at_both(&x, rq));
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    int rc = put_compared_timelines(&b, &x);
    if (rc < 0) {
        vp_buf_free(&b);
        return rc;
    }
    return http_json(rq, 200, &b);
}
