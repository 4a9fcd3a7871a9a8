/* /api/v1/live: running programs of this user that can record, and the request to record. Paths of
 * this machine are not sent: a capture is identified by its run, when the list contains it. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "server/local/live.h"
#include "server/routes/routes.h"
#include "server/routes/site/site_query.h"
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/mem.h"

#define ANSWER_BYTES_MAX (1u << 20)
#define STEPS_MAX 100000
#define MS_MAX 600000
#define PID_MAX (1 << 22)

/* ---- Answers --------------------------------------------------------------------------------- */

static void put_live_process(vp_json *j, const catalog *c, const char *root, const live_process *p)
{
    const cat_session *s = root && p->last_run[0] ? site_session_of(c, root, p->last_run) : NULL;
    vp_json_begin_object(j);
    live_put_json(j, p);
    vp_json_kcstr(j, "session", s ? s->id : NULL);
    vp_json_kcstr(j, "error", p->error[0] ? p->error : NULL);
    vp_json_end_object(j);
}

static int send_list(http_req *rq, int status, const live_process *list, size_t n)
{
    VP_CLEANUP(site_drop_catalog) catalog *c = store_catalog(site_of(rq)->store);
    char path[VP_PATH_MAX];
    const char *root = realpath(catalog_path(c), path);
    vp_buf b;
    vp_json j;
    vp_buf_init(&b, ANSWER_BYTES_MAX);
    vp_json_init(&j, &b);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "schema", "view_profile.live/1");
    vp_json_key(&j, "live");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < n; i++)
        put_live_process(&j, c, root, &list[i]);
    vp_json_end_array(&j);
    vp_json_end_object(&j);
    vp_buf_putc(&b, '\n');
    return http_json(rq, status, &b);
}

int route_live(http_req *rq)
{
    VP_CLEANUP(vp_free_ptr) live_process *list = NULL;
    size_t n;
    VP_TRY(live_list(&list, &n));
    /* Rescans for the new run now, instead of at the next request of the index. */
    store_refresh_soon(site_of(rq)->store, 1000, 0);
    return send_list(rq, 200, list, n);
}

/* ---- Captures -------------------------------------------------------------------------------- */

static int parse_bounded_number(uint64_t *out, const json_t *root, const char *key, uint64_t max,
                                size_t *known)
{
    const json_t *v = json_object_get(root, key);
    if (!v)
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < 1 || (uint64_t)json_integer_value(v) > max)
        return vp_fail(VP_EARG, "%s must be a number from 1 to %llu", key, (unsigned long long)max);
    *out = (uint64_t)json_integer_value(v);
    ++*known;
    return 0;
}

/* {}, {"steps": N} or {"ms": N}. */
static int take_live_body(live_request *r, const json_t *root)
{
    size_t known = 0;
    VP_TRY(parse_bounded_number(&r->steps, root, "steps", STEPS_MAX, &known));
    VP_TRY(parse_bounded_number(&r->ms, root, "ms", MS_MAX, &known));
    if (!json_is_object(root) || json_object_size(root) != known || known > 1)
        return vp_fail(VP_EARG, "the body must be {}, {\"steps\": N} or {\"ms\": N}");
    return 0;
}

static int read_live_body(live_request *r, vp_str body)
{
    json_t *root = json_loadb(body.p ? body.p : "", body.n, JSON_REJECT_DUPLICATES, NULL);
    int rc = take_live_body(r, root);
    json_decref(root);
    return rc;
}

int route_live_capture(http_req *rq)
{
    uint64_t pid;
    live_request r = {0};
    live_process p = {.pid = 0};
    if (!vp_str_to_u64(vp_str_of(http_param(rq, 0)), &pid) || !pid || pid > PID_MAX)
        return vp_fail(VP_ENOTFOUND, "no such process");
    VP_TRY(read_live_body(&r, http_body(rq)));
    int rc = live_capture(&p, (pid_t)pid, &r);
    if (rc == VP_EBUSY)
        return http_fail(rq, 409, "%s", vp_error_last()->message);
    return rc < 0 ? rc : send_list(rq, 202, &p, 1);
}
