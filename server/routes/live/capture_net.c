/* /api/v1/capture: lists network captures, starts and stops them. Paths of this machine are not
 * sent: a capture is identified by its run, when the list contains it. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/routes/live/capture_jobs.h"
#include "server/routes/routes.h"
#include "server/routes/site/site_query.h"
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/mem.h"

#define ANSWER_BYTES_MAX (1u << 20)
#define DURATION_MS 2000

/* ---- Answers --------------------------------------------------------------------------------- */

static void put_targets(vp_json *j, const capture_job *job)
{
    vp_json_key(j, "targets");
    vp_json_begin_array(j);
    for (size_t i = 0; i < job->n; i++) {
        const capture_target *t = &job->targets[i];
        vp_json_begin_object(j);
        vp_json_kcstr(j, "target", t->name);
        vp_json_kcstr(j, "state", t->state[0] ? t->state : NULL);
        vp_json_ki64(j, "bytes", t->bytes);
        vp_json_ki64(j, "left_ms", t->left_ms);
        vp_json_kcstr(j, "error", t->error[0] ? t->error : NULL);
        vp_json_kcstr(j, "code", t->code[0] ? t->code : NULL);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

static void put_capture_job(vp_json *j, const catalog *c, const char *root, const capture_job *job)
{
    static const char *const states[] = {"running", "done", "failed", "cancelled"};
    const cat_session *s = root && job->path[0] && job->state != CAPTURE_RUNNING
                               ? site_session_of(c, root, job->path)
                               : NULL;
    int64_t bytes = 0, left = 0;
    char id[16];
    for (size_t i = 0; i < job->n; i++) {
        bytes += job->targets[i].bytes;
        left = job->targets[i].left_ms > left ? job->targets[i].left_ms : left;
    }
    snprintf(id, sizeof id, "%u", job->id);
    vp_json_begin_object(j);
    vp_json_kcstr(j, "id", id);
    vp_json_kcstr(j, "state", states[job->state]);
    vp_json_kcstr(j, "asked", job->asked);
    vp_json_kcstr(j, "run", job->path[0] ? vp_path_name(job->path) : NULL);
    vp_json_ki64(j, "duration_ms", job->duration_ms);
    vp_json_ki64(j, "left_ms", job->state == CAPTURE_RUNNING ? left : 0);
    vp_json_ki64(j, "bytes", bytes);
    vp_json_kcstr(j, "session", s ? s->id : NULL);
    vp_json_kcstr(j, "error", job->error[0] ? job->error : NULL);
    put_targets(j, job);
    vp_json_end_object(j);
}

static int send_jobs(http_req *rq, int status)
{
    const site *at = site_of(rq);
    VP_CLEANUP(site_drop_catalog) catalog *c = store_catalog(at->store);
    VP_CLEANUP(vp_free_ptr) capture_job *jobs = NULL;
    VP_CLEANUP(vp_free_ptr) capture_targets *known = NULL;
    size_t n = captures_copy(at, &jobs, &known);
    char path[VP_PATH_MAX];
    const char *root = realpath(catalog_path(c), path);
    vp_buf b;
    vp_json j;
    VP_NEED(jobs && known);
    vp_buf_init(&b, ANSWER_BYTES_MAX);
    vp_json_init(&j, &b);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "schema", "view_profile.captures/1");
    vp_json_kcstr(&j, "refused", captures_refused(at));
    vp_json_key(&j, "targets");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < known->n; i++)
        vp_json_cstr(&j, known->list[i]);
    vp_json_end_array(&j);
    vp_json_key(&j, "jobs");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < n; i++)
        put_capture_job(&j, c, root, &jobs[i]);
    vp_json_end_array(&j);
    vp_json_end_object(&j);
    vp_buf_putc(&b, '\n');
    return http_json(rq, status, &b);
}

/* ---- POST ------------------------------------------------------------------------------------ */

typedef struct wanted {
    char targets[CAPTURE_TARGETS_TEXT];
    uint32_t ms;
} wanted;

static int take_capture_targets(wanted *w, const json_t *list)
{
    size_t n = json_array_size(list), at = 0;
    if (!n || n > CAPTURE_TARGETS_MAX)
        return vp_fail(VP_EARG, "targets must be a list of 1 to %u HOST:PORT", CAPTURE_TARGETS_MAX);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        vp_str one = {json_string_value(item), json_string_length(item)};
        if (!capture_target_ok(one))
            return vp_fail(VP_EARG, "target %zu is not HOST:PORT, such as 127.0.0.1:9012", i + 1);
        if (at + one.n + 2 > sizeof w->targets)
            return vp_fail(VP_EARG, "the names of the targets are too long");
        at += (size_t)snprintf(w->targets + at, sizeof w->targets - at, "%s%.*s", at ? "," : "",
                               (int)one.n, one.p);
    }
    return capture_targets_ok(vp_str_of(w->targets)) ? 0 : vp_fail(VP_EARG, "duplicate target");
}

/* {"targets": ["HOST:PORT"…], "duration_ms": N}; without a duration, 2 s. */
static int take_capture_body(wanted *w, const json_t *root)
{
    const json_t *targets = json_object_get(root, "targets");
    const json_t *ms = json_object_get(root, "duration_ms");
    if (!json_is_array(targets) || json_object_size(root) != 1u + (ms != NULL))
        return vp_fail(VP_EARG,
                       "the body must be {\"targets\": [\"HOST:PORT\"], \"duration_ms\": N}");
    if (ms && (!json_is_integer(ms) || json_integer_value(ms) < 1 ||
               json_integer_value(ms) > CAPTURE_MS_MAX))
        return vp_fail(VP_EARG, "duration_ms must be a number from 1 to %u", CAPTURE_MS_MAX);
    w->ms = ms ? (uint32_t)json_integer_value(ms) : DURATION_MS;
    return take_capture_targets(w, targets);
}

static int begin_capture_request(http_req *rq)
{
    wanted w = {.ms = 0};
    vp_str body = http_body(rq);
    json_t *root = json_loadb(body.p ? body.p : "", body.n, JSON_REJECT_DUPLICATES, NULL);
    int rc = take_capture_body(&w, root);
    json_decref(root);
    VP_TRY(rc);
    rc = captures_begin(site_of(rq), w.targets, w.ms);
    if (rc == VP_EBUSY || rc == VP_ELIMIT)
        return http_fail(rq, rc == VP_EBUSY ? 409 : 429, "%s", vp_error_last()->message);
    return rc < 0 ? rc : send_jobs(rq, 202);
}

int route_capture(http_req *rq)
{
    if (http_is_post(rq))
        return begin_capture_request(rq);
    store_refresh_soon(site_of(rq)->store, 1000, 0);
    return send_jobs(rq, 200);
}

int route_capture_cancel(http_req *rq)
{
    uint64_t id;
    if (!vp_str_to_u64(vp_str_of(http_param(rq, 0)), &id) || !id || id > UINT32_MAX)
        return vp_fail(VP_ENOTFOUND, "no such capture");
    VP_TRY(captures_cancel(site_of(rq), (uint32_t)id));
    return send_jobs(rq, 202);
}
