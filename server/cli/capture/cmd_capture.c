/* `view_profile capture HOST:PORT`: captures a profile of a running program. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/gates/show_slowest.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/duration.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/capture/kineto_job.h"
#include "server/cli/capture/profile_job.h"
#include "server/cli/capture/profile_page.h"
#include "server/cli/capture/profile_say.h"
#include "server/cli/capture/profile_targets.h"
#include "server/cli/terminal/standard_out.h"
#include "server/net/server.h"
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/base/system/temp_tree.h"
#include "trace/source/address.h"
#include "trace/source/fetch_frames.h"
#include "trace/source/source_write.h"

#define DURATION_MAX_MS INT64_C(3600000)

extern char **environ;

static volatile sig_atomic_t stops;

static void on_stop_signal(int number)
{
    (void)number;
    stops = stops + 1;
}

static void heed_signals(void)
{
    const struct sigaction heed = {.sa_handler = on_stop_signal};
    (void)sigaction(SIGINT, &heed, NULL);
    (void)sigaction(SIGTERM, &heed, NULL);
    (void)sigaction(SIGHUP, &heed, NULL);
}

/* Maps an error to CLI_USAGE or CLI_CAPTURE_FAILED. */
static int exit_code_of_failure(int rc)
{
    int code = cli_fail(rc);
    return rc == VP_EARG ? CLI_USAGE : code == CLI_NOT_FOUND ? code : CLI_CAPTURE_FAILED;
}

/* ---- --look ---------------------------------------------------------------------------------- */

static int look_at_process(fetcher *f, const profile_name *name, vp_buf *text)
{
    VP_CLEANUP(vp_buf_free) vp_buf question, payload;
    fetch_frame kind = FETCH_DATA;
    vp_pb_field field;
    int stream;
    vp_buf_init(&question, FETCH_ASK_MAX);
    vp_buf_init(&payload, FETCH_FRAME_MAX + 2);
    vp_pb_put_u64(&question, FETCH_ASK_WHAT, FETCH_LOOK);
    vp_pb_put_len(&question, FETCH_ASK_URL, vp_str_of(name->target));
    VP_TRY(fetcher_ask(f, vp_buf_view(&question), NULL, 0, &stream));
    int rc;
    while ((rc = fetch_next(stream, &kind, &payload)) >= 0 && kind != FETCH_DONE) {
        vp_pb p = vp_pb_of(vp_buf_view(&payload));
        while (kind == FETCH_INFO && vp_pb_next(&p, &field) == 1)
            if (field.number == FETCH_LOOK_TEXT)
                vp_put_escaped(text, field.data);
        payload.n = 0;
    }
    close(stream);
    return rc;
}

static int look_at_processes(fetcher *f, const profile_name *names, size_t n)
{
    int code = CLI_OK;
    for (size_t i = 0; i < n; i++) {
        VP_CLEANUP(vp_buf_free) vp_buf text;
        vp_buf out;
        vp_buf_init(&text, FETCH_FRAME_MAX * 8);
        if (look_at_process(f, &names[i], &text) < 0) {
            vp_log(VP_LOG_ERROR, "%s: %s", names[i].target, vp_error_last()->message);
            code = CLI_CAPTURE_FAILED;
            continue;
        }
        cli_stdout(&out);
        vp_buf_printf(&out, "%s: %s\n", names[i].target, vp_buf_cstr(&text));
        (void)cli_finish(&out);
    }
    return code;
}

/* ---- After a capture ------------------------------------------------------------------------- */

/* For --out with an address. */
typedef struct elsewhere {
    source_address at;
    source_ask ask;
} elsewhere;

/* Shows the slowest ops like `top`, and the command or URL for the rest. */
static void show_captured_ops(const cli_options *o, const profile_job *j, const elsewhere *e)
{
    vp_buf b;
    if (!cli_show_slowest(o->program, o, o->top, o->quiet, j->run.path, STDOUT_FILENO) || o->quiet)
        return;
    cli_stdout(&b);
    vp_buf_putc(&b, '\n');
    profile_page_put(&b, e ? e->at.url : o->out, j->run.run);
    (void)cli_finish(&b);
}

static void say_spread(const profile_job *j)
{
    if (j->spread_ms >= 0)
        vp_log(VP_LOG_INFO, "the hosts started within %lld ms of each other, by their own clocks",
               (long long)j->spread_ms);
}

static int exit_of(const profile_job *j)
{
    for (size_t i = 0; i < j->n; i++)
        if (j->targets[i].code)
            return CLI_CAPTURE_FAILED;
    return CLI_OK;
}

static char *url_of(const elsewhere *e, const profile_job *j, const profile_name *name)
{
    char path[VP_PATH_MAX];
    snprintf(path, sizeof path, "plugins/profile/%.200s/%.200s.xplane.pb", j->run.run, name->host);
    return source_address_beneath(&e->at, path);
}

/* VP_EBUSY: the object exists. */
static int check_object_absent(const elsewhere *e, const char *url)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    source_entry now;
    vp_buf_init(&b, FETCH_FRAME_MAX + 2);
    if (source_ask_head(&e->ask, url, &b, &now) < 0)
        return 0; /* other errors show up when writing */
    return vp_fail_at(vp_fail(VP_EBUSY, LANDING_IS_THERE), url, -1, -1);
}

static int look_at_all(const elsewhere *e, const profile_job *j)
{
    for (size_t i = 0; i < j->n; i++) {
        VP_CLEANUP(vp_free_ptr) char *url = url_of(e, j, j->targets[i].name);
        VP_NEED(url);
        VP_TRY(check_object_absent(e, url));
    }
    return 0;
}

static int upload_one(const elsewhere *e, const profile_job *j, const profile_target *t)
{
    VP_CLEANUP(vp_free_ptr) char *url = url_of(e, j, t->name);
    VP_NEED(url);
    VP_TRY(check_object_absent(e, url));
    int rc = source_write_file(&e->ask, url, t->file.final);
    return rc < 0 && !vp_error_last()->path[0] ? vp_fail_at(rc, url, -1, -1) : rc;
}

/* Uploads the captured files. 0: at least one was uploaded. */
static int upload_captured_run(const elsewhere *e, profile_job *j)
{
    int rc = VP_EREMOTE;
    for (size_t i = 0; i < j->n; i++) {
        profile_target *t = &j->targets[i];
        if (t->code)
            continue;
        if (upload_one(e, j, t) < 0)
            profile_target_fail(t, 0);
        else
            rc = 0;
    }
    return rc;
}

static int capture_into_run(const cli_options *o, profile_job *j, fetcher *f, const elsewhere *e)
{
    profile_say say = {0};
    j->told = profile_say_change;
    j->ctx = &say;
    j->stops = &stops;
    heed_signals();
    profile_say_begin(&say, o, j);
    int rc = o->kineto ? kineto_job_run(j, f) : profile_job_run(j, f);
    if (rc >= 0 && e)
        rc = upload_captured_run(e, j);
    int code = exit_of(j);
    profile_say_end(&say, j, code);
    if (rc < 0 || say.json)
        return code;
    say_spread(j);
    show_captured_ops(o, j, e);
    return code;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int read_times(const cli_options *o, profile_job *j)
{
    if (cli_duration_ms("duration", o->duration, 1, DURATION_MAX_MS, &j->duration_ms) ||
        cli_duration_ms("patience", o->patience, 1, DURATION_MAX_MS, &j->patience_ms))
        return CLI_USAGE;
    for (size_t i = 0; i < o->option.n; i++)
        if (o->option.items[i][0] == '=' || !strchr(o->option.items[i], '=')) {
            vp_log(VP_LOG_ERROR, "--option %.100s: must be KEY=VALUE", o->option.items[i]);
            return CLI_USAGE;
        }
    return CLI_OK;
}

static int open_job(const cli_options *o, profile_job *j, const profile_name *names, size_t n,
                    const elsewhere *e, const char *here)
{
    VP_TRY(profile_job_open(j, names, n, e ? here : o->out, o->name, e ? &e->at : NULL));
    return e && o->name ? look_at_all(e, j) : 0;
}

static int run_capture_command(const cli_options *o, profile_job *j, const profile_name *names,
                               size_t n, elsewhere *e)
{
    VP_CLEANUP(vp_temp_tree_free) vp_temp_tree here = VP_TEMP_TREE_NONE;
    fetcher *f = NULL;
    int code;
    http_more_descriptors(); /* one socket and one file per process; the fetcher inherits the limit
                              */
    if (e && vp_temp_tree_make(&here, "view_profile_capture") < 0)
        return exit_code_of_failure(VP_EIO);
    if (fetcher_start(&f) < 0)
        return exit_code_of_failure(VP_EIO);
    if (e)
        e->ask = (source_ask){.ask = fetcher_source,
                              .ctx = f,
                              .is_unsigned = o->no_sign_request,
                              .user = e->at.user,
                              .query = e->at.query};
    if (o->look) {
        code = look_at_processes(f, names, n);
    } else if (open_job(o, j, names, n, e, here.path) < 0) {
        code = exit_code_of_failure(vp_error_last()->code);
        if (j->run.path[0])
            run_landing_remove(&j->run);
    } else {
        code = capture_into_run(o, j, f, e);
    }
    profile_job_close(j);
    fetcher_end(f);
    return code;
}

static int run_elsewhere(const cli_options *o, profile_job *j, const profile_name *names, size_t n)
{
    elsewhere e = {0};
    int code = CLI_USAGE, rc = source_address_read(&e.at, o->out);
    if (rc < 0)
        code = exit_code_of_failure(rc);
    else if (o->kineto)
        vp_log(VP_LOG_ERROR, "--kineto needs a directory that its processes can access, not %.300s",
               e.at.url);
    else
        code = run_capture_command(o, j, names, n, &e);
    source_address_free(&e.at);
    return code;
}

int cli_run_capture(const cli_options *o)
{
    profile_job j = {.host_tracer = o->host_tracer,
                     .device_tracer = o->device_tracer,
                     .python_tracer = o->python_tracer,
                     .options = &o->option,
                     .parallel = o->parallel};
    profile_name *names = NULL;
    size_t n = 0;
    if (read_times(o, &j))
        return CLI_USAGE;
    int rc = profile_targets(&names, &n, o->operands, o->operand_count, o->hosts_file);
    int code = rc < 0                                  ? exit_code_of_failure(rc)
               : !o->look && source_is_address(o->out) ? run_elsewhere(o, &j, names, n)
                                                       : run_capture_command(o, &j, names, n, NULL);
    vp_free(names);
    return code;
}
