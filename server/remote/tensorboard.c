#include "server/remote/tensorboard.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/remote/child.h"
#include "server/remote/loopback_http.h"
#include "server/remote/tb_scratch.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* The plugin answers its version in 2-4 ms and the list of 10,000 runs in 0.8 s (peers.md). */
#define VERSION_TIMEOUT_MS 1000
#define RUNS_TIMEOUT_MS 5000
/* It starts in 1-3 s on a quiet machine; a cold disk full of Python takes longer. */
#define START_LIMIT_MS 90000
#define PORTS_TRIED 20

struct tb {
    pthread_mutex_t lock;
    int wanted_port;
    int port; /* of our own */
    child *own;
    int64_t started_ms;
    tb_scratch *scratch;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int tb_new(tb **out, int port)
{
    tb *t = vp_calloc(1, sizeof *t);
    if (!t)
        return vp_fail(VP_ENOMEM, "out of memory");
    t->wanted_port = port;
    pthread_mutex_init(&t->lock, NULL);
    *out = t;
    return 0;
}

static void end_own(tb *t)
{
    child_stop(t->own);
    t->own = NULL;
}

void tb_free(tb *t)
{
    if (!t)
        return;
    end_own(t);
    tb_scratch_free(t->scratch);
    pthread_mutex_destroy(&t->lock);
    vp_free(t);
}

/* ---- Asking a TensorBoard -------------------------------------------------------------------- */

static const char *last_component(const char *run)
{
    const char *slash = strrchr(run, '/');
    return slash ? slash + 1 : run;
}

static const char *choose_run(const json_t *runs, const char *name)
{
    const char *found = NULL;
    size_t i, same = 0;
    json_t *entry;
    json_array_foreach(runs, i, entry)
    {
        const char *run = json_string_value(entry);
        if (!run)
            continue;
        if (strcmp(run, name) == 0)
            return run;
        if (strcmp(last_component(run), last_component(name)) == 0) {
            found = run;
            same++;
        }
    }
    return same == 1 ? found : NULL;
}

int tb_find_run(char *out, size_t cap, vp_str runs_json, const char *name)
{
    json_t *runs = json_loadb(runs_json.p ? runs_json.p : "", runs_json.n, 0, NULL);
    if (!json_is_array(runs)) {
        json_decref(runs);
        return vp_fail(VP_ECORRUPT, "TensorBoard's list of runs is damaged");
    }
    const char *run = choose_run(runs, name);
    bool found = run && strlen(run) < cap;
    if (found)
        snprintf(out, cap, "%s", run);
    json_decref(runs);
    return found ? 0 : vp_fail(VP_ENOTFOUND, "TensorBoard does not list the run");
}

static int get(vp_buf *body, int port, const char *path, int timeout_ms)
{
    int status;
    VP_TRY(lb_get(body, &status, port, path, timeout_ms));
    if (status == 404)
        return vp_fail(VP_ENOTFOUND, "TensorBoard on port %d has no profile plugin", port);
    if (status != 200)
        return vp_fail(VP_EREMOTE, "port %d answers with HTTP status %d", port, status);
    return 0;
}

/* VP_EREMOTE: nobody answers; VP_ENOTFOUND: no plugin, or (with *plugin) the run is unknown. */
static int ask_port(char *run, size_t cap, bool *plugin, int port, const char *name)
{
    VP_CLEANUP(vp_buf_free) vp_buf version, runs;
    vp_buf_init(&version, VP_REMOTE_ANSWER_MAX);
    vp_buf_init(&runs, VP_REMOTE_ANSWER_MAX);
    *plugin = false;
    VP_TRY(get(&version, port, "/data/plugin/profile/version", VERSION_TIMEOUT_MS));
    *plugin = true;
    VP_TRY(get(&runs, port, "/data/plugin/profile/runs", RUNS_TIMEOUT_MS));
    return tb_find_run(run, cap, vp_buf_view(&runs), name);
}

/* ---- Our own ----------------------------------------------------------------------------------
 */

/* Where TensorBoard is: $VIEW_PROFILE_TENSORBOARD, `tensorboard` in PATH, or the module of the
 * first python3. */
static int find_program(char *path, bool *module)
{
    const char *named = getenv("VIEW_PROFILE_TENSORBOARD");
    *module = false;
    if (named && *named)
        return child_find(path, named);
    if (child_find(path, "tensorboard") == 0)
        return 0;
    *module = true;
    return child_find(path, "python3");
}

static int start_program(tb *t, const char *program, bool module)
{
    char port[16], setpriv[VP_PATH_MAX];
    const char *argv[16];
    size_t n = 0;
    snprintf(port, sizeof port, "%d", t->port);
    /* setpriv sets PR_SET_PDEATHSIG between fork and exec, which posix_spawn cannot. Without it,
     * the child ends only when we end in order. */
    if (child_find(setpriv, "setpriv") == 0) {
        argv[n++] = setpriv;
        argv[n++] = "--pdeathsig";
        argv[n++] = "TERM";
        argv[n++] = "--";
    }
    argv[n++] = program;
    if (module) {
        argv[n++] = "-m";
        argv[n++] = "tensorboard.main";
    }
    argv[n++] = "--logdir";
    argv[n++] = tb_scratch_dir(t->scratch);
    argv[n++] = "--host";
    argv[n++] = "127.0.0.1";
    argv[n++] = "--port";
    argv[n++] = port;
    argv[n] = NULL;
    return child_start(&t->own, argv);
}

static int choose_port(int *out, int wanted)
{
    for (int port = wanted; port < wanted + PORTS_TRIED && port <= 65535; port++) {
        if (lb_port_is_free(port)) {
            *out = port;
            return 0;
        }
    }
    return vp_fail(VP_EBUSY, "ports %d to %d are all taken", wanted, wanted + PORTS_TRIED - 1);
}

static int start_own(tb *t, tb_answer *out)
{
    char program[VP_PATH_MAX];
    bool module;
    int rc = find_program(program, &module);
    if (rc < 0) {
        out->missing = true;
        return rc;
    }
    if (!t->scratch)
        VP_TRY(tb_scratch_new(&t->scratch));
    VP_TRY(choose_port(&t->port, t->wanted_port));
    VP_TRY(start_program(t, program, module));
    t->started_ms = now_ms();
    return 0;
}

/* ---- The answer -------------------------------------------------------------------------------
 */

static void fail(tb_answer *out, const char *message)
{
    out->state = TB_FAILED;
    snprintf(out->message, sizeof out->message, "%s", message);
}

static void explain_end(tb_answer *out, const child_status *st)
{
    out->missing = strstr(st->log, "No module named") != NULL;
    if (out->missing)
        fail(out, "TensorBoard is not installed.");
    else {
        out->state = TB_FAILED;
        snprintf(out->message, sizeof out->message,
                 "TensorBoard ended with exit code %d before it answered.", st->exit_code);
    }
}

/* What our own says at this moment. A failure ends it, so that asking again starts afresh. */
static void look_at_own(tb *t, tb_answer *out, const cat_session *s)
{
    child_status st;
    bool plugin;
    child_look(t->own, &st);
    memcpy(out->log, st.log, sizeof out->log);
    out->ours = true;
    out->port = t->port;
    out->waited_ms = now_ms() - t->started_ms;
    int rc = st.running ? ask_port(out->run, sizeof out->run, &plugin, t->port, s->id) : 0;
    if (!st.running)
        explain_end(out, &st);
    else if (rc == 0)
        out->state = TB_READY;
    else if (rc == VP_ENOTFOUND && !plugin) {
        out->missing = true;
        fail(out, "TensorBoard is installed without its profile plugin.");
    } else if (out->waited_ms < START_LIMIT_MS)
        out->state = TB_STARTING;
    else
        fail(out, "TensorBoard was started but does not answer.");
    if (out->state == TB_FAILED)
        end_own(t);
}

static bool own_is_alive(tb *t)
{
    child_status st;
    if (!t->own)
        return false;
    child_look(t->own, &st);
    return st.running;
}

static bool foreign_knows(const tb *t, tb_answer *out, const cat_session *s)
{
    bool plugin;
    if (ask_port(out->run, sizeof out->run, &plugin, t->wanted_port, s->name) < 0)
        return false;
    out->state = TB_READY;
    out->port = t->wanted_port;
    return true;
}

static void pick_host(tb_answer *out, const cat_session *s, const char *host)
{
    for (size_t i = tb_next_xplane(s, 0); i < s->file_count; i = tb_next_xplane(s, i + 1)) {
        const cat_file *f = &s->files[i];
        bool asked = host && f->host < s->host_count && strcmp(s->hosts[f->host].name, host) == 0;
        if (out->hosts++ == 0 || asked)
            tb_host_name(out->host, s, f);
        if (asked) {
            out->hosts = 1;
            return;
        }
    }
}

static void ask_locked(tb *t, tb_answer *out, const catalog *c, const cat_session *s)
{
    /* A TensorBoard of the user's that knows the run comes first, unless ours took over. */
    if (!t->own && foreign_knows(t, out, s))
        return;
    if (!own_is_alive(t) && t->own) {
        look_at_own(t, out, s);
        return;
    }
    int rc = t->own ? 0 : start_own(t, out);
    if (rc == 0)
        rc = tb_scratch_add(t->scratch, c, s);
    if (rc == 0)
        look_at_own(t, out, s);
    else if (out->missing)
        fail(out, "TensorBoard is not installed.");
    else
        fail(out, vp_error_last()->message);
}

void tb_ask(tb *t, tb_answer *out, const catalog *c, const cat_session *s, const char *host)
{
    *out = (tb_answer){.state = TB_NO_XPLANE};
    pick_host(out, s, host);
    if (!out->hosts)
        return;
    pthread_mutex_lock(&t->lock);
    ask_locked(t, out, c, s);
    pthread_mutex_unlock(&t->lock);
}
