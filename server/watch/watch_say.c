#include "server/watch/watch_say.h"

#include <stdio.h>
#include <unistd.h>

#include "trace/base/fs.h"
#include "trace/base/json.h"
#include "trace/base/log.h"
#include "trace/report/labels/numbers.h"

#define TARGET_SHOWN 80u

static void print_watch_line(vp_buf *b)
{
    if (b->status >= 0)
        (void)vp_fs_write_all(STDOUT_FILENO, b->p, b->n);
    vp_buf_free(b);
}

static void begin_json(vp_json *j, vp_buf *b, const watch_job *job, const char *event)
{
    vp_json_init(j, b);
    vp_json_begin_object(j);
    vp_json_kcstr(j, "schema", "view_profile.watch_event/1");
    vp_json_kcstr(j, "event", event);
    vp_json_ki64(j, "unix_ms", watch_unix_ms());
    vp_json_kcstr(j, "target", job->target);
    vp_json_kcstr(j, "name", job->name);
    vp_json_kcstr(j, "state", watch_status_words[job->status]);
}

static void end_json(vp_json *j, vp_buf *b)
{
    vp_json_end_object(j);
    vp_buf_putc(b, '\n');
}

/* A long list of hosts is replaced by its name. */
static void put_job_target(vp_buf *b, const watch_job *j)
{
    vp_str target = vp_str_of(j->target);
    bool is_long = target.n > TARGET_SHOWN;
    if (!is_long)
        (void)vp_put_escaped(b, target);
    if (is_long)
        vp_buf_puts(b, j->name);
    else if (watch_job_is_named(j))
        vp_buf_printf(b, " (%s)", j->name);
}

static void begin_text(vp_buf *b, const watch_job *j)
{
    (void)rep_put_time(b, watch_unix_ms() * 1000000);
    vp_buf_puts(b, "  ");
    put_job_target(b, j);
    vp_buf_puts(b, "  ");
}

static void put_capture_json(vp_buf *b, const watch_job *job, const char *run, const char *verdict,
                             const char *cost)
{
    vp_json j;
    const watch_figure *f = job->figure_count ? &job->figures[job->figure_count - 1] : NULL;
    begin_json(&j, b, job, "capture");
    vp_json_kcstr(&j, "run", run);
    vp_json_kcstr(&j, "baseline_run", job->baseline);
    vp_json_kcstr(&j, "verdict", verdict);
    vp_json_kbool(&j, "slower", job->last_slower);
    vp_json_kcount(&j, "steps", f ? f->steps : -1);
    vp_json_kcount(&j, "median_ps", f ? f->median_ps : -1);
    vp_json_kcount(&j, "p90_ps", f ? f->p90_ps : -1);
    vp_json_kcstr(&j, "words", job->words);
    vp_json_kcstr(&j, "cost", cost);
    vp_json_kcstr(&j, "error", job->error);
    end_json(&j, b);
}

static void put_capture_text(vp_buf *b, const watch_job *j, const char *run, const char *verdict,
                             const char *cost)
{
    begin_text(b, j);
    vp_buf_printf(b, "%s  %s: ", run, j->last_slower ? "SLOWER" : verdict);
    (void)vp_put_escaped(b, vp_str_of(j->words ? j->words : ""));
    if (cost)
        vp_buf_printf(b, " [%s]", cost);
    vp_buf_putc(b, '\n');
}

void watch_say_capture(const watch_options *o, const watch_job *j, const char *run,
                       const char *verdict, const char *cost)
{
    vp_buf b;
    vp_buf_init(&b, 64u << 10);
    if (o->json)
        put_capture_json(&b, j, run, verdict, cost);
    else if (!o->quiet || j->last_slower)
        put_capture_text(&b, j, run, verdict, cost);
    print_watch_line(&b);
}

static bool is_trouble(watch_status s)
{
    return s == WATCH_BUSY || s == WATCH_GONE || s == WATCH_FAILED;
}

void watch_say_state(const watch_options *o, watch_job *j, watch_status status, const char *error)
{
    vp_buf b;
    vp_json out;
    bool trouble = is_trouble(status), was = is_trouble(j->status);
    bool same = j->status == status;
    bool partly = !trouble && error; /* some of several hosts failed */
    if (partly && !j->error)
        same = false;
    else if (!trouble && !was)
        same = true;
    if (j->status != status)
        j->since_ms = watch_unix_ms();
    j->status = status;
    (void)watch_set(&j->error, error);
    if (same)
        return;
    vp_buf_init(&b, 64u << 10);
    if (o->json) {
        begin_json(&out, &b, j, "state");
        vp_json_kcstr(&out, "error", error);
        end_json(&out, &b);
        print_watch_line(&b);
        return;
    }
    put_job_target(&b, j);
    const char *target = vp_buf_cstr(&b);
    if (trouble || partly)
        vp_log(VP_LOG_WARN, "%s: %s: %s", target,
               partly ? "incomplete" : watch_status_words[status], error ? error : "unknown error");
    else
        vp_log(VP_LOG_INFO, "%s: captures work again", target);
    vp_buf_free(&b);
}
