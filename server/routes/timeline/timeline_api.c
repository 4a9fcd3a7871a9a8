/* /api/v1/session/ID/tracks, …/slices: the rows of a timeline, and a window of them. */
#include <string.h>

#include "server/routes/routes.h"
#include "server/routes/timeline/timeline_query.h"
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/timeline/tl_slices.h"

/* Maximum number of tracks in the response. */
#define TOLD_MAX 20000u
#define GROUPS_TOLD_MAX 1000u

static const char *const role_words[] = {"plain", "ops",     "async", "derived",
                                         "steps", "modules", "marks", "counter"};

static void put_u64_member(vp_json *j, const char *key, uint64_t n)
{
    vp_json_key(j, key);
    vp_json_u64(j, n);
}

/* added: the analysis tracks that x indexes; NULL: the file. */
static void put_timeline_track(vp_json *j, const tl_index *x, const derived *added, uint32_t i)
{
    const tl_track *k = &x->tracks[i];
    vp_json_begin_object(j);
    put_u64_member(j, "id", x->first_track + i);
    if (added)
        vp_json_kcstr(j, "derived", derived_kinds[added->tracks[i].kind].word);
    vp_json_kstr(j, "name", tl_text(x, k->name));
    vp_json_ki64(j, "tid", k->id);
    vp_json_kcstr(j, "role", role_words[k->role]);
    put_u64_member(j, "rows", k->row_count);
    put_u64_member(j, "lanes", k->lane_count);
    put_u64_member(j, "events", k->count);
    vp_json_ki64(j, "dur_ps", k->dur_ps);
    vp_json_ki64(j, "from_ps", k->start_ps);
    vp_json_ki64(j, "to_ps", k->end_ps);
    put_u64_member(j, "overlaid", k->overlaid);
    put_u64_member(j, "left_out", k->left_out);
    vp_json_end_object(j);
}

typedef struct told {
    uint32_t tracks, groups, beyond, empty;
} told;

/* Tracks by group: those of g are track[first[g]] to track[first[g + 1]] (exclusive). */
typedef struct by_group {
    uint32_t *first, *track;
} by_group;

static void free_by_group(by_group *by)
{
    vp_free(by->first);
    vp_free(by->track);
}

static int make_by_group(by_group *by, const tl_index *x)
{
    by->first = vp_calloc((size_t)x->group_count + 2, sizeof *by->first);
    by->track = vp_calloc((size_t)x->track_count + 1, sizeof *by->track);
    VP_NEED(by->first && by->track);
    for (uint32_t i = 0; i < x->track_count; i++)
        by->first[x->tracks[i].group + 2]++;
    for (uint32_t g = 0; g < x->group_count; g++)
        by->first[g + 2] += by->first[g + 1];
    for (uint32_t i = 0; i < x->track_count; i++)
        by->track[by->first[x->tracks[i].group + 1]++] = i;
    return 0;
}

static uint32_t used_of(const tl_index *x, const by_group *by, uint32_t group)
{
    uint32_t n = 0;
    for (uint32_t i = by->first[group]; i < by->first[group + 1]; i++)
        n += x->tracks[by->track[i]].count > 0;
    return n;
}

static void put_timeline_group(vp_json *j, const tl_index *x, const derived *added,
                               const by_group *by, uint32_t group, told *n)
{
    const tl_group *g = &x->groups[group];
    vp_json_begin_object(j);
    vp_json_kstr(j, "name", tl_text(x, g->name));
    vp_json_kstr(j, "model", tl_text(x, g->model));
    vp_json_kbool(j, "device", g->has_ops);
    if (!added)
        vp_json_ki64(j, "pid", g->id);
    if (added)
        vp_json_kstr(j, "of", derived_text(added, added->groups[group].name));
    vp_json_key(j, "tracks");
    vp_json_begin_array(j);
    for (uint32_t i = by->first[group]; i < by->first[group + 1]; i++) {
        uint32_t track = by->track[i];
        if (!x->tracks[track].count)
            n->empty++;
        else if (n->tracks == TOLD_MAX)
            n->beyond++;
        else
            put_timeline_track(j, x, added, track), n->tracks++;
    }
    vp_json_end_array(j);
    vp_json_end_object(j);
}

/* Groups that have a track with events, devices first. A file can have as many processes as tracks;
 * the tracks of omitted groups are counted. */
static int put_groups(vp_json *j, const tl_index *x, const derived *added, told *n)
{
    VP_CLEANUP(free_by_group) by_group by = {0};
    VP_TRY(make_by_group(&by, x));
    n->groups = 0;
    vp_json_key(j, added ? "analysis" : "groups");
    vp_json_begin_array(j);
    for (int device = 1; device >= 0; device--)
        for (uint32_t g = 0; g < x->group_count; g++) {
            uint32_t used = x->groups[g].has_ops == device ? used_of(x, &by, g) : 0;
            if (used && n->groups < GROUPS_TOLD_MAX)
                put_timeline_group(j, x, added, &by, g, n), n->groups++;
            else
                n->beyond += used;
        }
    vp_json_end_array(j);
    return 0;
}

static int put_tracks(vp_buf *b, const timeline_asked *a)
{
    const tl_index *x = a->x;
    bool any = x->start_ps <= x->end_ps;
    told n = {0};
    vp_json j;
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "session", a->s->name);
    vp_json_kcstr(&j, "host", a->s->hosts[a->host].name);
    vp_json_ki64(&j, "from_ps", any ? x->start_ps : 0);
    vp_json_ki64(&j, "to_ps", any ? x->end_ps : 0);
    timeline_put_whole(&j, "file_origin_ns", x->file_origin_ns);
    put_u64_member(&j, "events", x->event_count);
    put_u64_member(&j, "left_out", x->left_out);
    put_u64_member(&j, "index_bytes", tl_bytes(x));
    vp_json_kbool(&j, "partial", x->partial);
    int rc = put_groups(&j, x, NULL, &n);
    if (rc >= 0 && a->added)
        rc = put_groups(&j, a->added->x, a->added->tracks, &n);
    put_u64_member(&j, "empty", n.empty);
    put_u64_member(&j, "tracks_left_out", n.beyond);
    vp_json_end_object(&j);
    return rc < 0 ? rc : vp_buf_putc(b, '\n');
}

int route_tracks(http_req *rq)
{
    VP_CLEANUP(timeline_drop) timeline_asked a = {0};
    vp_buf b;
    VP_TRY(timeline_ask(&a, rq));
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    int rc = put_tracks(&b, &a);
    if (rc < 0) {
        vp_buf_free(&b);
        return rc;
    }
    return http_json(rq, 200, &b);
}

/* ---- Slices --------------------------------------------------------------------------------- */

/* Parses a number after `sign`; unchanged if the sign does not follow. */
static bool take_behind(vp_str *s, const char *sign, uint64_t *n)
{
    if (!vp_str_starts(*s, vp_str_of(sign)))
        return true;
    *s = vp_str_skip(*s, 1);
    return vp_take_uint(s, UINT32_MAX, n);
}

/* The rows of tracks first to last. */
typedef struct wish {
    uint64_t first, last, rows, first_row;
} wish;

/* One of "3", "3-7", "3:2" (its first two rows), "3:2@5" (the two from its row 5 on), "3-7:2@5". */
static bool take_wish(vp_str *s, wish *w)
{
    *w = (wish){.rows = UINT32_MAX};
    if (!vp_take_uint(s, UINT32_MAX, &w->first))
        return false;
    w->last = w->first;
    return take_behind(s, "-", &w->last) && w->last >= w->first && take_behind(s, ":", &w->rows) &&
           take_behind(s, "@", &w->first_row) && (!s->n || vp_str_starts(*s, VP_STR(",")));
}

/* `tracks` of the query, "3,7-12:1"; the first tracks if absent. */
static int ask_tracks(tl_wanted *out, size_t *n, const tl_index **of, const timeline_asked *a,
                      const http_req *rq)
{
    vp_str s = vp_str_of(http_query(rq, "tracks"));
    const tl_index *x = *of = a->x;
    wish w;
    for (*n = 0; !s.n && *n < x->track_count && *n < VP_TIMELINE_TRACKS_MAX; ++*n)
        out[*n] = (tl_wanted){(uint32_t)*n, UINT32_MAX, 0};
    while (s.n) {
        if (!take_wish(&s, &w))
            return vp_fail(VP_EARG, "\"tracks\" must be a list such as 3,7-12:1");
        if (w.last - w.first >= VP_TIMELINE_TRACKS_MAX - *n)
            return vp_fail(VP_EARG, "more than %u tracks in one request", VP_TIMELINE_TRACKS_MAX);
        if (!*n)
            *of = x = timeline_of_track(a, w.first);
        if (!x || x != timeline_of_track(a, w.first) || x != timeline_of_track(a, w.last))
            return vp_fail(VP_ENOTFOUND, "unknown tracks, or too many for one response");
        for (; w.first <= w.last; w.first++)
            out[(*n)++] = (tl_wanted){(uint32_t)w.first - x->first_track, (uint32_t)w.rows,
                                      (uint32_t)w.first_row};
        s = vp_str_skip(s, 1);
    }
    return 0;
}

int route_slices(http_req *rq)
{
    VP_CLEANUP(timeline_drop) timeline_asked a = {0};
    VP_CLEANUP(vp_free_ptr)
    tl_wanted *tracks = vp_realloc_array(NULL, VP_TIMELINE_TRACKS_MAX, sizeof *tracks);
    const char *given = http_query(rq, "px");
    uint64_t px = 1000;
    const tl_index *x;
    vp_buf b;
    VP_NEED(tracks);
    if (given && (!vp_str_to_u64(vp_str_of(given), &px) || !px || px > VP_TIMELINE_PX_MAX))
        return vp_fail(VP_EARG, "\"px\" must be a number up to %u", VP_TIMELINE_PX_MAX);
    VP_TRY(timeline_ask(&a, rq));
    tl_window w = {.px = (uint32_t)px, .tracks = tracks};
    VP_TRY(timeline_window(&w.from_ps, &w.until_ps, a.x, rq));
    VP_TRY(ask_tracks(tracks, &w.track_count, &x, &a, rq));
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    tl_slices(&b, x, &w); /* errors stay in the buffer */
    return http_bytes(rq, 200, &b);
}
