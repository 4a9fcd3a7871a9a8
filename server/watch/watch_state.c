/* The state file, view_profile.watch/1 (docs/watch.md): written for the index page and for the next
 * watch in the same directory. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "include/view_profile.h"
#include "server/watch/watch_store.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/json.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/capture/disk/small_files.h"

#define SCHEMA "view_profile.watch/1"
#define BYTES_MAX (256u << 20)

static void put_state_figure(vp_json *j, const watch_figure *f)
{
    vp_json_begin_object(j);
    vp_json_kcstr(j, "run", f->run);
    vp_json_ki64(j, "unix_ms", f->unix_ms);
    vp_json_kcount(j, "steps", f->steps);
    vp_json_kcount(j, "median_ps", f->median_ps);
    vp_json_kcount(j, "p90_ps", f->p90_ps);
    vp_json_kcstr(j, "verdict", f->verdict);
    vp_json_end_object(j);
}

/* The files of an uploaded run. */
static void put_state_files(vp_json *j, const watch_kept *k)
{
    vp_json_key(j, "files");
    vp_json_begin_array(j);
    for (size_t i = 0; i < k->file_count; i++) {
        vp_json_begin_object(j);
        vp_json_kcstr(j, "name", k->files[i].name);
        vp_json_kcstr(j, "etag", k->files[i].etag);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
    vp_json_kbool(j, "doomed", k->doomed);
}

static void put_state_run(vp_json *j, const watch_kept *k)
{
    vp_json_begin_object(j);
    vp_json_kcstr(j, "run", k->run);
    vp_json_key(j, "dev");
    vp_json_u64(j, k->dev);
    vp_json_key(j, "ino");
    vp_json_u64(j, k->ino);
    vp_json_kcount(j, "born_unix_ns", k->born_ns);
    vp_json_kcount(j, "median_ps", k->median_ps);
    if (k->file_count)
        put_state_files(j, k);
    vp_json_end_object(j);
}

static void put_state_job(vp_json *j, const watch_store *s, const watch_job *job)
{
    char history[VP_PATH_MAX];
    watch_history_name(s, job, history);
    vp_json_begin_object(j);
    vp_json_kcstr(j, "target", job->target);
    vp_json_kcstr(j, "name", job->name);
    vp_json_kbool(j, "listed", !job->unlisted_ms);
    vp_json_kcstr(j, "history", history);
    vp_json_kcstr(j, "state", watch_status_words[job->status]);
    vp_json_kcstr(j, "error", job->error);
    vp_json_ki64(j, "since_unix_ms", job->unlisted_ms ? job->unlisted_ms : job->since_ms);
    vp_json_kcount(j, "next_unix_ms", job->next_ms && !job->unlisted_ms ? job->next_ms : -1);
    vp_json_ki64(j, "captures", job->captures);
    vp_json_ki64(j, "failures", job->failures);
    vp_json_kcstr(j, "baseline_run", job->baseline);
    vp_json_kcstr(j, "words", job->words);
    vp_json_kcount(j, "last_step", job->last_step);
    vp_json_kcount(j, "last_end_unix_ns", job->last_end_unix_ns);
    vp_json_key(j, "figures");
    vp_json_begin_array(j);
    for (size_t i = 0; i < job->figure_count; i++)
        put_state_figure(j, &job->figures[i]);
    vp_json_end_array(j);
    vp_json_key(j, "runs");
    vp_json_begin_array(j);
    for (size_t i = 0; i < job->run_count; i++)
        put_state_run(j, &job->runs[i]);
    vp_json_end_array(j);
    vp_json_end_object(j);
}

void watch_shown(char shown[VP_PATH_MAX], const char *named)
{
    source_address at;
    bool is_there = source_address_read(&at, named) >= 0;
    snprintf(shown, VP_PATH_MAX, "%s", is_there ? at.url : named);
    source_address_free(&at);
}

static void put_watch_state(vp_buf *b, const watch_store *s, const watch_options *o,
                            const watch_jobs *l, int64_t pid)
{
    char shown[VP_PATH_MAX];
    vp_json j;
    watch_shown(shown, o->baseline);
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "schema", SCHEMA);
    vp_json_key(&j, "tool");
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "name", "view_profile");
    vp_json_kcstr(&j, "version", VP_VERSION);
    vp_json_end_object(&j);
    vp_json_kcount(&j, "pid", pid ? pid : -1);
    vp_json_ki64(&j, "updated_unix_ms", watch_unix_ms());
    vp_json_ki64(&j, "every_ms", o->every_ms);
    vp_json_ki64(&j, "duration_ms", o->duration_ms);
    vp_json_ki64(&j, "keep", o->keep);
    vp_json_kcstr(&j, "baseline", shown);
    vp_json_key(&j, "targets");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < l->n; i++)
        put_state_job(&j, s, l->v[i]);
    vp_json_end_array(&j);
    vp_json_end_object(&j);
    vp_buf_putc(b, '\n');
}

int watch_state_write(const watch_store *s, const watch_options *o, const watch_jobs *l,
                      int64_t pid)
{
    vp_buf b;
    vp_buf_init(&b, BYTES_MAX);
    put_watch_state(&b, s, o, l, pid);
    int rc = b.status < 0 ? b.status : cap_write_file(s->out, WATCH_STATE, vp_buf_view(&b));
    vp_buf_free(&b);
    return rc;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static const char *state_text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static int64_t state_count(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_integer(v) && json_integer_value(v) >= 0 ? json_integer_value(v) : VP_UNKNOWN;
}

static int read_figures(watch_job *j, const json_t *list)
{
    const json_t *v;
    size_t i;
    json_array_foreach(list, i, v)
    {
        const char *run = state_text(v, "run"), *verdict = state_text(v, "verdict");
        watch_figure f = {.run = (char *)(uintptr_t)run,
                          .verdict = (char *)(uintptr_t)verdict,
                          .unix_ms = state_count(v, "unix_ms"),
                          .steps = state_count(v, "steps"),
                          .median_ps = state_count(v, "median_ps"),
                          .p90_ps = state_count(v, "p90_ps")};
        if (run && verdict)
            VP_TRY(watch_job_add_figure(j, &f));
    }
    return 0;
}

static bool is_run_name(const char *name)
{
    return name && *name && *name != '.' && !strchr(name, '/') && strlen(name) < 300;
}

static int read_run(watch_job *j, const watch_kept *k, const json_t *v)
{
    const json_t *file;
    size_t i;
    if (!is_run_name(k->run) || strlen(k->run) >= 200)
        return 0;
    VP_TRY(watch_job_add_run(j, k));
    watch_kept *made = &j->runs[j->run_count - 1];
    json_array_foreach(json_object_get(v, "files"), i, file)
    {
        const char *name = state_text(file, "name"), *etag = state_text(file, "etag");
        if (is_run_name(name) && etag)
            VP_TRY(watch_kept_add_file(made, name, etag));
    }
    made->doomed = made->doomed && made->file_count;
    return 0;
}

static int read_state_runs(watch_job *j, const json_t *list)
{
    const json_t *v;
    size_t i;
    json_array_foreach(list, i, v)
    {
        watch_kept k = {.run = (char *)(uintptr_t)state_text(v, "run"),
                        .dev = (uint64_t)state_count(v, "dev"),
                        .ino = (uint64_t)state_count(v, "ino"),
                        .born_ns = state_count(v, "born_unix_ns"),
                        .median_ps = state_count(v, "median_ps"),
                        .doomed = json_is_true(json_object_get(v, "doomed"))};
        VP_TRY(read_run(j, &k, v));
    }
    return 0;
}

static int read_job(watch_jobs *l, const json_t *v, bool same_baseline)
{
    watch_job *j;
    const char *name = state_text(v, "name");
    if (!name || !*name)
        return 0;
    VP_TRY(watch_jobs_need(l, &j, vp_str_of(name)));
    if (j->target) /* duplicate in the file: the first is used */
        return 0;
    VP_TRY(watch_set(&j->target, state_text(v, "target")));
    if (same_baseline)
        VP_TRY(watch_set(&j->baseline, state_text(v, "baseline_run")));
    VP_TRY(watch_set(&j->words, state_text(v, "words")));
    int64_t captures = state_count(v, "captures"), failures = state_count(v, "failures");
    j->captures = captures > 0 ? captures : 0;
    j->failures = failures > 0 ? failures : 0;
    int64_t since = state_count(v, "since_unix_ms");
    if (json_is_false(json_object_get(v, "listed")) && since > 0 && since < j->unlisted_ms)
        j->unlisted_ms = since;
    j->last_step = state_count(v, "last_step");
    j->last_end_unix_ns = state_count(v, "last_end_unix_ns");
    VP_TRY(read_figures(j, json_object_get(v, "figures")));
    return read_state_runs(j, json_object_get(v, "runs"));
}

static int read_watch_state(const watch_options *o, watch_jobs *l, vp_str text)
{
    json_error_t e;
    json_t *root = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES, &e);
    const char *schema = state_text(root, "schema"), *baseline = state_text(root, "baseline");
    char shown[VP_PATH_MAX];
    watch_shown(shown, o->baseline);
    bool same = baseline && !strcmp(baseline, shown);
    int rc = schema && !strcmp(schema, SCHEMA) ? 0 : VP_ECORRUPT;
    const json_t *v;
    size_t i;
    json_array_foreach(json_object_get(root, "targets"), i, v) if (rc >= 0) rc =
        read_job(l, v, same);
    json_decref(root);
    if (rc == VP_ECORRUPT)
        vp_log(VP_LOG_WARN, WATCH_STATE
               " is not a valid state file; starting with a new one, existing runs are kept");
    return rc == VP_ECORRUPT ? 0 : rc;
}

int watch_state_read(const watch_store *s, const watch_options *o, watch_jobs *l)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    bool is_dir;
    vp_file_id id;
    vp_buf b;
    size_t got = 0;
    int rc = vp_fs_open_beneath(s->dir, WATCH_STATE, &fd, &is_dir, &id);
    if (rc == VP_ENOTFOUND)
        return 0;
    VP_TRY(rc);
    if (is_dir || id.size > (int64_t)BYTES_MAX)
        return vp_fail(VP_EREFUSED, WATCH_STATE " is not a valid state file; remove it");
    vp_buf_init(&b, BYTES_MAX + 4096);
    char *room = vp_buf_reserve(&b, (size_t)id.size + 1);
    rc = room ? vp_fs_pread(fd, room, (size_t)id.size, 0, &got) : b.status;
    if (rc >= 0)
        rc = read_watch_state(o, l, (vp_str){room, got});
    vp_buf_free(&b);
    return rc;
}
