#include "server/routes/timeline/timeline_query.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/routes/site/site_query.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"

int timeline_index_of(timeline_asked *a, const http_req *rq, const char *name)
{
    const cat_host *host = name ? catalog_host(a->s, vp_str_of(name)) : a->s->hosts;
    if (name && !host)
        return vp_fail(VP_ENOTFOUND, "no such host in this run");
    a->host = host ? (uint32_t)(host - a->s->hosts) : 0;
    const store_asker who = site_asker(rq);
    VP_TRY(timelines_get(&a->held, site_of(rq)->timelines, a->c, a->s, a->host, &who));
    a->x = timeline_index(a->held);
    return http_query(rq, "analysis") ? timeline_wait(&a->added, a->held, &who) : 0;
}

int timeline_ask(timeline_asked *a, const http_req *rq)
{
    VP_TRY(site_session(&a->c, &a->s, rq));
    return timeline_index_of(a, rq, http_query(rq, "host"));
}

void timeline_drop(timeline_asked *a)
{
    timeline_release(&a->held);
    catalog_free(a->c);
}

/* Maximum number of steps in the response, enough for the minimap. */
#define STEPS_MAX 20000u

int timeline_take_time(int64_t *ps, const http_req *rq, const char *key)
{
    const char *given = http_query(rq, key);
    if (given &&
        (!vp_str_to_i64(vp_str_of(given), ps) || *ps < -VP_TIME_MAX_PS || *ps > VP_TIME_MAX_PS))
        return vp_fail(VP_EARG, "\"%s\" must be a time in picoseconds", key);
    return 0;
}

int timeline_window(int64_t *from_ps, int64_t *until_ps, const tl_index *x, const http_req *rq)
{
    bool any = x->start_ps <= x->end_ps;
    *from_ps = any ? x->start_ps : 0;
    *until_ps = any ? x->end_ps + 1 : *from_ps + 1; /* including events that start at the end */
    VP_TRY(timeline_take_time(from_ps, rq, "from"));
    VP_TRY(timeline_take_time(until_ps, rq, "to"));
    if (*until_ps <= *from_ps)
        return vp_fail(VP_EARG, "\"to\" must be a time after \"from\"");
    return 0;
}

const tl_index *timeline_of_track(const timeline_asked *a, uint64_t track)
{
    const tl_index *of[] = {a->x, a->added ? a->added->x : NULL};
    for (size_t i = 0; i < 2; i++)
        if (of[i] && track >= of[i]->first_track && track - of[i]->first_track < of[i]->track_count)
            return of[i];
    return NULL;
}

int timeline_event(tl_event *e, const tl_index **x, const timeline_asked *a, const http_req *rq,
                   const char *key)
{
    const char *given = http_query(rq, key);
    vp_str s = vp_str_of(given);
    uint64_t part[3];
    for (int i = 0; i < 3; i++) {
        if (!vp_take_uint(&s, UINT32_MAX, &part[i]) || (i < 2 && !vp_str_starts(s, VP_STR("."))))
            return vp_fail(VP_EARG, "\"%s\" must be an event, TRACK.ROW.INDEX", key);
        s = vp_str_skip(s, i < 2);
    }
    *x = timeline_of_track(a, part[0]);
    if (*x)
        *e = (tl_event){(uint32_t)part[0] - (*x)->first_track, (uint32_t)part[1], part[2]};
    if (s.n || !*x || !tl_row_of(*x, e))
        return vp_fail(VP_ENOTFOUND, "no such event");
    return 0;
}

void timeline_put_whole(vp_json *j, const char *key, int64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, n);
    vp_json_kcstr(j, key, text);
}

void timeline_put_span(vp_json *j, int64_t from_ps, int64_t until_ps)
{
    vp_json_ki64(j, "start_ps", from_ps);
    vp_json_ki64(j, "dur_ps", until_ps > from_ps ? until_ps - from_ps : 0);
}

int64_t timeline_put_steps(vp_json *j, const tl_index *x, const vp_report *r, const char *host)
{
    int64_t told = 0, median = -1, nearest = INT64_MAX;
    vp_json_key(j, "steps");
    vp_json_begin_array(j);
    for (size_t i = 0; i < r->steps.count && i < STEPS_MAX; i++) {
        const vp_step *s = &r->steps.list[i];
        int64_t start = timeline_time(x, r, host, s->start_ps);
        int64_t off = s->dur_ps > r->steps.median_ps ? s->dur_ps - r->steps.median_ps
                                                     : r->steps.median_ps - s->dur_ps;
        bool counts = vp_step_counts(s);
        if (start == INT64_MIN)
            continue;
        if (counts && r->steps.median_ps != VP_UNKNOWN && off < nearest) {
            nearest = off;
            median = told;
        }
        vp_json_begin_object(j);
        if (s->number != VP_UNKNOWN)
            vp_json_ki64(j, "number", s->number);
        timeline_put_span(j, start, start + s->dur_ps);
        vp_json_kbool(j, "partial", !counts);
        vp_json_end_object(j);
        told++;
    }
    vp_json_end_array(j);
    return median;
}
