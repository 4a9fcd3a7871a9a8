#include "server/cli/capture/profile_say.h"

#include <stdio.h>

#include "server/cli/terminal/standard_out.h"
#include "trace/base/human.h"
#include "trace/base/json.h"
#include "trace/base/log.h"
#include "trace/base/time.h"

/* A start can be delayed by up to this time by other captures; a larger difference means a wrong
 * clock. */
#define CLOCK_OFF_S 60

/* ---- JSON ------------------------------------------------------------------------------------ */

static void open_event_line(vp_buf *b, vp_json *j, const char *event)
{
    cli_stdout(b);
    vp_json_init(j, b);
    vp_json_begin_object(j);
    vp_json_kcstr(j, "schema", PROFILE_SCHEMA);
    vp_json_kcstr(j, "event", event);
}

static void close_line(vp_buf *b, vp_json *j)
{
    vp_json_end_object(j);
    vp_buf_putc(b, '\n');
    (void)cli_finish(b);
}

static void put_job_run(vp_json *j, const profile_job *job)
{
    vp_json_kcstr(j, "run", job->run.run);
    vp_json_kcstr(j, "path", job->place);
}

static void put_begin(const profile_job *job)
{
    vp_buf b;
    vp_json j;
    open_event_line(&b, &j, "begin");
    put_job_run(&j, job);
    vp_json_key(&j, "targets");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < job->n; i++)
        vp_json_cstr(&j, job->targets[i].name->target);
    vp_json_end_array(&j);
    vp_json_ki64(&j, "duration_ms", job->duration_ms);
    close_line(&b, &j);
}

static void print_progress_line(const profile_target *t)
{
    static const char *const states[] = {"connecting", "profiling", "receiving"};
    vp_buf b;
    vp_json j;
    open_event_line(&b, &j, "progress");
    vp_json_kcstr(&j, "target", t->name->target);
    vp_json_kcstr(&j, "state", states[t->state]);
    vp_json_ki64(&j, "bytes", t->bytes);
    vp_json_ki64(&j, "left_ms", t->left_ms);
    close_line(&b, &j);
}

static void put_target_object(vp_json *j, const profile_target *t)
{
    vp_json_begin_object(j);
    vp_json_kcstr(j, "target", t->name->target);
    vp_json_kcstr(j, "host", t->name->host);
    vp_json_ki64(j, "bytes", t->code ? 0 : t->bytes);
    vp_json_kcstr(j, "error", t->code ? t->error : NULL);
    vp_json_kcstr(j, "code", t->word);
    vp_json_end_object(j);
}

static void print_end_line(const profile_job *job, int code)
{
    vp_buf b;
    vp_json j;
    open_event_line(&b, &j, "end");
    vp_json_kbool(&j, "ok", code == 0);
    vp_json_ki64(&j, "exit", code);
    put_job_run(&j, job);
    vp_json_kcount(&j, "spread_ms", job->spread_ms);
    vp_json_key(&j, "targets");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < job->n; i++)
        put_target_object(&j, &job->targets[i]);
    vp_json_end_array(&j);
    close_line(&b, &j);
}

/* ---- The terminal ---------------------------------------------------------------------------- */

static void draw_target_lines(profile_say *s, const profile_job *j)
{
    int64_t left = 0, bytes = 0, now = vp_now_ms();
    size_t ended = 0, profiling = 0;
    char line[160], text[VP_HUMAN_BYTES];
    for (size_t i = 0; i < j->n; i++) {
        const profile_target *t = &j->targets[i];
        bytes += t->bytes;
        ended += t->phase == PROFILE_ENDED;
        profiling += t->phase == PROFILE_RUNNING && t->state == FETCH_PROFILING;
        if (t->phase == PROFILE_RUNNING && t->left_ms > left)
            left = t->left_ms;
    }
    if (bytes && !s->received_ms)
        s->received_ms = now;
    int n = j->stopped_ms ? snprintf(line, sizeof line, "stopping (Ctrl-C again: discard), ") : 0;
    if (j->n > 1)
        n += snprintf(line + n, sizeof line - (size_t)n, "%zu of %zu done, ", ended, j->n);
    if (left)
        n += snprintf(line + n, sizeof line - (size_t)n, "%s, %.1f s left",
                      profiling ? "profiling" : "connecting", (double)left / 1000);
    else if (!bytes)
        n += snprintf(line + n, sizeof line - (size_t)n, "waiting for the profile");
    if (bytes) {
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%s received", left ? ", " : "",
                      vp_bytes_text(text, bytes));
        if (now > s->received_ms + 500)
            (void)snprintf(line + n, sizeof line - (size_t)n, ", %s/s",
                           vp_bytes_text(text, bytes * 1000 / (now - s->received_ms)));
    }
    cli_progress_text(&s->progress, line);
}

void profile_say_begin(profile_say *s, const cli_options *o, const profile_job *j)
{
    s->json = o->format != 0;
    cli_progress_begin(&s->progress, o, "profiling");
    s->progress.on = s->progress.on && !s->json;
    if (s->json)
        put_begin(j);
}

void profile_say_change(void *ctx, const profile_job *j, const profile_target *t)
{
    profile_say *s = ctx;
    if (!s->json)
        draw_target_lines(s, j);
    else if (t->phase == PROFILE_RUNNING)
        print_progress_line(t);
}

/* Warns of a wrong clock, which puts the run or the host at the wrong time. */
static void say_clock(const profile_target *t)
{
    int64_t off_s = t->start_ns ? (t->start_ns - t->asked_ns) / 1000000000 : 0;
    if (off_s > CLOCK_OFF_S || off_s < -CLOCK_OFF_S)
        vp_log(VP_LOG_WARN, "%s: its clock is %lld s %s the local clock", t->name->target,
               (long long)(off_s < 0 ? -off_s : off_s), off_s < 0 ? "behind" : "ahead of");
}

void profile_say_end(profile_say *s, const profile_job *j, int code)
{
    cli_progress_end(&s->progress);
    for (size_t i = 0; i < j->n; i++)
        if (j->targets[i].code)
            vp_log(VP_LOG_ERROR, "%s: %s", j->targets[i].name->target, j->targets[i].error);
        else
            say_clock(&j->targets[i]);
    if (s->json)
        print_end_line(j, code);
}
