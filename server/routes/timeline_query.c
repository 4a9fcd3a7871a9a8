#include "server/routes/timeline_query.h"

#include "server/routes/site_query.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"

int timeline_ask(timeline_asked *a, const http_req *rq)
{
    const char *name = http_query(rq, "host");
    VP_TRY(site_session(&a->c, &a->s, rq));
    const cat_host *host = name ? catalog_host(a->s, vp_str_of(name)) : a->s->hosts;
    if (name && !host)
        return vp_fail(VP_ENOTFOUND, "this session has no host of that name");
    a->host = host ? (uint32_t)(host - a->s->hosts) : 0;
    const store_asker who = site_asker(rq);
    VP_TRY(timelines_get(&a->held, site_of(rq)->timelines, a->c, a->s, a->host, &who));
    a->x = timeline_index(a->held);
    return http_query(rq, "analysis") ? timeline_wait(&a->added, a->held, &who) : 0;
}

void timeline_drop(timeline_asked *a)
{
    timeline_release(&a->held);
    catalog_free(a->c);
}

int timeline_take_time(int64_t *ps, const http_req *rq, const char *key)
{
    const char *given = http_query(rq, key);
    if (given &&
        (!vp_str_to_i64(vp_str_of(given), ps) || *ps < -VP_TIME_MAX_PS || *ps > VP_TIME_MAX_PS))
        return vp_fail(VP_EARG, "\"%s\" is a time in picoseconds", key);
    return 0;
}

int timeline_window(int64_t *from_ps, int64_t *until_ps, const tl_index *x, const http_req *rq)
{
    bool any = x->start_ps <= x->end_ps;
    *from_ps = any ? x->start_ps : 0;
    *until_ps = any ? x->end_ps + 1 : *from_ps + 1; /* with what begins at the end */
    VP_TRY(timeline_take_time(from_ps, rq, "from"));
    VP_TRY(timeline_take_time(until_ps, rq, "to"));
    if (*until_ps <= *from_ps)
        return vp_fail(VP_EARG, "\"to\" is a time after \"from\"");
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
            return vp_fail(VP_EARG, "\"%s\" is an event, TRACK.ROW.INDEX", key);
        s = vp_str_skip(s, i < 2);
    }
    *x = timeline_of_track(a, part[0]);
    if (*x)
        *e = (tl_event){(uint32_t)part[0] - (*x)->first_track, (uint32_t)part[1], part[2]};
    if (s.n || !*x || !tl_row_of(*x, e))
        return vp_fail(VP_ENOTFOUND, "there is no such event");
    return 0;
}
