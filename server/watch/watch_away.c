#include "server/watch/watch_away.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "server/watch/watch_deliver.h"
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/capture/disk/small_files.h"

static bool is_run_here(const watch_kept *k)
{
    return !k->file_count;
}

bool watch_away_is_due(const watch_job *j, const watch_jobs *all)
{
    for (size_t i = 0; i < j->run_count; i++)
        if (is_run_here(&j->runs[i]))
            return true;
    for (size_t n = 0; n < all->n; n++)
        for (size_t i = 0; i < all->v[n]->run_count; i++)
            if (all->v[n]->runs[i].doomed)
                return true;
    return false;
}

/* ---- The plan -------------------------------------------------------------------------------- */

static void put_doomed(vp_json *w, const watch_kept *k)
{
    vp_json_begin_object(w);
    vp_json_kcstr(w, "run", k->run);
    vp_json_key(w, "files");
    vp_json_begin_array(w);
    for (size_t i = 0; i < k->file_count; i++) {
        vp_json_begin_object(w);
        vp_json_kcstr(w, "name", k->files[i].name);
        vp_json_kcstr(w, "etag", k->files[i].etag);
        vp_json_end_object(w);
    }
    vp_json_end_array(w);
    vp_json_end_object(w);
}

static void put_lists(vp_json *w, const watch_job *j, const watch_jobs *all)
{
    vp_json_key(w, "put");
    vp_json_begin_array(w);
    for (size_t i = 0; i < j->run_count; i++)
        if (is_run_here(&j->runs[i]))
            vp_json_cstr(w, j->runs[i].run);
    vp_json_end_array(w);
    vp_json_key(w, "remove");
    vp_json_begin_array(w);
    for (size_t n = 0; n < all->n; n++)
        for (size_t i = 0; i < all->v[n]->run_count; i++)
            if (all->v[n]->runs[i].doomed)
                put_doomed(w, &all->v[n]->runs[i]);
    vp_json_end_array(w);
}

int watch_away_plan(const char *path, const watch_store *s, const watch_options *o,
                    const watch_job *j, const watch_jobs *all)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_json w;
    char history[VP_PATH_MAX];
    watch_history_name(s, j, history);
    vp_buf_init(&b, WATCH_PLAN_MAX);
    vp_json_init(&w, &b);
    vp_json_begin_object(&w);
    vp_json_kcstr(&w, "url", o->out);
    vp_json_kbool(&w, "unsigned", o->is_unsigned);
    vp_json_kcstr(&w, "dir", s->out);
    vp_json_kcstr(&w, "history", history);
    put_lists(&w, j, all);
    vp_json_end_object(&w);
    return b.status < 0 ? b.status : cap_write_path(path, vp_buf_view(&b));
}

/* ---- What was done --------------------------------------------------------------------------- */

static watch_kept *find_away_run(watch_jobs *all, const char *run, watch_job **of, size_t *at)
{
    for (size_t n = 0; run && n < all->n; n++)
        for (size_t i = 0; i < all->v[n]->run_count; i++)
            if (!strcmp(all->v[n]->runs[i].run, run)) {
                *of = all->v[n];
                *at = i;
                return &all->v[n]->runs[i];
            }
    return NULL;
}

static int take_put(const watch_store *s, watch_kept *k, const json_t *files)
{
    const json_t *v;
    size_t i;
    json_array_foreach(files, i, v)
    {
        const char *name = json_string_value(json_object_get(v, "name"));
        const char *etag = json_string_value(json_object_get(v, "etag"));
        if (name)
            VP_TRY(watch_kept_add_file(k, name, etag ? etag : ""));
    }
    return watch_ring_leave(s, k);
}

int watch_away_take(const watch_store *s, watch_jobs *all, vp_str line)
{
    json_error_t e;
    json_t *v = json_loadb(line.p, line.n, 0, &e);
    const char *put = json_string_value(json_object_get(v, "put"));
    const char *warning = json_string_value(json_object_get(v, "warn"));
    watch_job *j = NULL;
    size_t i = 0;
    if (warning)
        vp_log(VP_LOG_WARN, "%s", warning);
    watch_kept *k =
        find_away_run(all, put ? put : json_string_value(json_object_get(v, "removed")), &j, &i);
    int rc = 0;
    if (k && put && is_run_here(k))
        rc = take_put(s, k, json_object_get(v, "files"));
    if (k && (put ? is_run_here(k) : k->doomed)) /* it was empty or does not exist */
        watch_job_drop_run(j, i);
    json_decref(v);
    return rc;
}

int watch_away_run(char out[VP_PATH_MAX], const watch_store *s, const char *run)
{
    char path[VP_PATH_MAX];
    watch_run_path(path, run);
    VP_CLEANUP(vp_free_ptr) char *url = source_address_beneath(&s->at, path);
    VP_NEED(url);
    return snprintf(out, VP_PATH_MAX, "%s", url) < (int)VP_PATH_MAX
               ? 0
               : vp_fail(VP_ELIMIT, "--out: the address is too long");
}
