#include "server/cli/capture/kineto_job.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/base/time.h"
#include "trace/source/fetch_frames.h"

#define LOOK_EVERY_MS 200
#define PROCESSES_MAX 1024u
#define TAIL 64

typedef struct kineto_file {
    size_t target;
    uint64_t pid;
    int64_t bytes; /* size at the last check */
    bool whole;
} kineto_file;

typedef struct kineto_files {
    kineto_file *items;
    size_t n, cap;
} kineto_files;

static void kineto_file_path(char *out, const profile_job *j, const profile_name *name,
                             uint64_t pid)
{
    if (pid)
        snprintf(out, VP_PATH_MAX, "%.3700s/%s/%.200s_%llu.pt.trace.json", j->run.root, j->run.run,
                 name->host, (unsigned long long)pid);
    else
        snprintf(out, VP_PATH_MAX, "%.3700s/%s/%.200s.pt.trace.json", j->run.root, j->run.run,
                 name->host);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static int put_kineto_question(vp_buf *b, const profile_job *j, const profile_name *name)
{
    char log[VP_PATH_MAX];
    VP_CLEANUP(vp_buf_free) vp_buf body;
    vp_buf_init(&body, FETCH_ASK_MAX);
    kineto_file_path(log, j, name, 0);
    vp_pb_put_len(&body, FETCH_KINETO_LOG, vp_str_of(log));
    vp_pb_put_u64(&body, FETCH_KINETO_DURATION_MS, (uint64_t)j->duration_ms);
    for (size_t i = 0; j->options && i < j->options->n; i++)
        vp_pb_put_len(&body, FETCH_KINETO_OPTION, vp_str_of(j->options->items[i]));
    vp_pb_put_u64(b, FETCH_ASK_WHAT, FETCH_KINETO);
    vp_pb_put_len(b, FETCH_ASK_URL, vp_str_of(name->target));
    vp_pb_put_len(b, FETCH_ASK_BODY, vp_buf_view(&body));
    return body.status < 0 ? body.status : b->status;
}

static int add_pids(kineto_files *files, size_t target, vp_str payload)
{
    vp_pb p = vp_pb_of(payload);
    vp_pb_field f;
    while (vp_pb_next(&p, &f) == 1) {
        if (f.number != FETCH_KINETO_PID)
            continue;
        VP_TRY(vp_grow(&files->items, &files->cap, files->n + 1, sizeof *files->items,
                       (size_t)PROCESSES_MAX * PROFILE_TARGETS_MAX));
        files->items[files->n++] = (kineto_file){.target = target, .pid = f.u};
    }
    return 0;
}

static int ask_kineto_target(profile_job *j, fetcher *f, size_t target, kineto_files *files)
{
    VP_CLEANUP(vp_buf_free) vp_buf question, payload;
    fetch_frame kind = FETCH_DATA;
    int rc;
    profile_target *t = &j->targets[target];
    vp_buf_init(&question, FETCH_ASK_MAX);
    vp_buf_init(&payload, FETCH_FRAME_MAX + 2);
    VP_TRY(put_kineto_question(&question, j, t->name));
    VP_TRY(fetcher_ask(f, vp_buf_view(&question), NULL, 0, &t->stream));
    while ((rc = fetch_next(t->stream, &kind, &payload)) >= 0 && kind != FETCH_DONE) {
        if (kind == FETCH_INFO)
            VP_TRY(add_pids(files, target, vp_buf_view(&payload)));
        payload.n = 0;
    }
    return rc;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Complete: it has not grown since the last check and ends like JSON. */
static bool is_whole(kineto_file *k, const char *path)
{
    char tail[TAIL];
    vp_file_id id;
    bool is_dir;
    size_t got = 0;
    VP_CLEANUP(vp_fs_close) int fd = -1;
    if (vp_fs_open_user(path, &fd, &is_dir, &id) < 0 || is_dir)
        return false;
    bool same = id.size == k->bytes && id.size > 0;
    k->bytes = id.size;
    if (!same || vp_fs_pread(fd, tail, sizeof tail, id.size > TAIL ? id.size - TAIL : 0, &got) < 0)
        return false;
    while (got && strchr("\n\r\t ", tail[got - 1]))
        got--;
    return got && (tail[got - 1] == '}' || tail[got - 1] == ']');
}

static size_t count_missing_files(profile_job *j, kineto_files *files)
{
    size_t missing = 0;
    for (size_t i = 0; i < files->n; i++) {
        kineto_file *k = &files->items[i];
        char path[VP_PATH_MAX];
        kineto_file_path(path, j, j->targets[k->target].name, k->pid);
        if (!k->whole && is_whole(k, path)) {
            k->whole = true;
            j->targets[k->target].bytes += k->bytes;
        }
        missing += !k->whole;
    }
    return missing;
}

static void tell_all_targets(profile_job *j, profile_phase phase, int64_t left_ms)
{
    for (size_t i = 0; i < j->n; i++) {
        profile_target *t = &j->targets[i];
        if (t->phase == PROFILE_ENDED)
            continue;
        t->phase = phase;
        t->state = left_ms ? FETCH_PROFILING : FETCH_RECEIVING;
        t->left_ms = left_ms;
        if (j->told)
            j->told(j->ctx, j, t);
    }
}

static void wait_for_kineto_files(profile_job *j, kineto_files *files)
{
    const struct timespec pause = {.tv_nsec = LOOK_EVERY_MS * 1000000L};
    int64_t over = vp_now_ms() + j->duration_ms;
    while (count_missing_files(j, files) && !*j->stops && vp_now_ms() < over + j->patience_ms) {
        int64_t left = over - vp_now_ms();
        tell_all_targets(j, PROFILE_RUNNING, left > 0 ? left : 0);
        (void)nanosleep(&pause, NULL);
    }
    for (size_t i = 0; i < files->n; i++) {
        profile_target *t = &j->targets[files->items[i].target];
        if (files->items[i].whole || t->code)
            continue;
        if (*j->stops)
            vp_fail(VP_ECANCELLED, "canceled; the processes may still write to %s", j->run.path);
        else
            vp_fail(VP_EREMOTE,
                    "process %llu wrote nothing to %s; check that the process can write to that "
                    "directory (newer PyTorch writes only below /tmp or KINETO_ONDEMAND_TRACE_DIR)",
                    (unsigned long long)files->items[i].pid, j->run.path);
        profile_target_fail(t, *j->stops ? 0 : 4);
    }
}

/* Checked because processes overwrite files of earlier captures. */
static int look_at_run(const profile_job *j, const profile_name *name)
{
    const struct dirent *e;
    char start[300];
    DIR *d = opendir(j->run.path);
    bool has = false;
    snprintf(start, sizeof start, "%s_", name->host);
    while (d && !has && (e = readdir(d)))
        has = !strncmp(e->d_name, start, strlen(start)) &&
              vp_str_ends(vp_str_of(e->d_name), VP_STR(".pt.trace.json"));
    if (d)
        closedir(d);
    return has ? vp_fail(VP_EBUSY, LANDING_IS_THERE) : 0;
}

int kineto_job_run(profile_job *j, fetcher *f)
{
    kineto_files files = {0};
    const profile_target *first = NULL;
    for (size_t i = 0; i < j->n; i++)
        if (look_at_run(j, j->targets[i].name) < 0 || ask_kineto_target(j, f, i, &files) < 0) {
            profile_target_fail(&j->targets[i], 0);
            j->targets[i].phase = PROFILE_ENDED;
        }
    if (files.n)
        wait_for_kineto_files(j, &files);
    tell_all_targets(j, PROFILE_ENDED, 0);
    vp_free(files.items);
    run_landing_remove(&j->run); /* if it is empty */
    for (size_t i = 0; i < j->n; i++)
        if (!j->targets[i].code)
            return 0;
        else if (!first)
            first = &j->targets[i];
    return first ? vp_fail(first->code, "%s", first->error) : 0;
}
