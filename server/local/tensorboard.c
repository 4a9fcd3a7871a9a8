#include "server/local/tensorboard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "server/local/child.h"
#include "server/local/loopback_http.h"
#include "server/local/tb_cause.h"
#include "server/local/tb_find.h"
#include "server/local/tb_program.h"
#include "server/local/tb_scratch.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"

/* In ms. It starts in 1-3 s on an idle machine; with a cold disk cache it takes longer. */
#define START_LIMIT_MS 90000
#define PORTS_TRIED 20

/* Copies the xplane files of one run in a thread; this can take minutes. */
typedef struct filling {
    pthread_t thread;
    bool made; /* the thread has to be joined */
    catalog *c;
    const cat_session *session;
    _Atomic bool over;
    _Atomic int64_t done;
    int64_t total;
    int rc;
    vp_error error;
} filling;

struct tb {
    pthread_mutex_t lock;
    tb_options opts;
    int port; /* of the TensorBoard that we started */
    int next_port;
    child *own;
    bool answered; /* it has answered once */
    bool xprof;    /* it is a standalone XProf */
    tb_scratch *scratch;
    filling fill;
    _Atomic bool closing;
};

int tb_new(tb **out, const tb_options *opts)
{
    tb *t = vp_calloc(1, sizeof *t);
    VP_NEED(t);
    t->opts = *opts;
    t->next_port = opts->port;
    pthread_mutex_init(&t->lock, NULL);
    *out = t;
    return 0;
}

static void end_own(tb *t)
{
    child_stop(t->own);
    t->own = NULL;
    t->answered = false;
}

static void end_filling(filling *f)
{
    if (f->made)
        pthread_join(f->thread, NULL);
    catalog_free(f->c);
    *f = (filling){.made = false};
}

void tb_free(tb *t)
{
    if (!t)
        return;
    atomic_store(&t->closing, true);
    end_filling(&t->fill);
    end_own(t);
    tb_scratch_free(t->scratch);
    pthread_mutex_destroy(&t->lock);
    vp_free(t);
}

static void fail_tensorboard(tb_answer *out, const char *message, const char *command)
{
    out->state = TB_FAILED;
    out->command = command;
    snprintf(out->message, sizeof out->message, "%s", message);
}

static void fail_because(tb_answer *out, const tb_cause *why)
{
    fail_tensorboard(out, why->sentence, why->command);
}

/* ---- The tree -------------------------------------------------------------------------------- */

static int on_copied(void *ctx, int64_t done, int64_t total)
{
    tb *t = ctx;
    (void)total;
    atomic_store(&t->fill.done, done);
    return atomic_load(&t->closing);
}

static void *run_filling(void *arg)
{
    tb *t = arg;
    filling *f = &t->fill;
    f->rc = tb_scratch_add(t->scratch, f->c, f->session, on_copied, t);
    if (f->rc < 0)
        f->error = *vp_error_last();
    atomic_store(&f->over, true);
    return NULL;
}

static int begin_filling(tb *t, catalog *c, const cat_session *s)
{
    filling *f = &t->fill;
    f->c = catalog_ref(c);
    f->session = s;
    f->total = tb_scratch_to_copy(s);
    f->made = pthread_create(&f->thread, NULL, run_filling, t) == 0;
    if (f->made)
        return 0;
    end_filling(f);
    return vp_fail(VP_EIO, "cannot start a thread");
}

/* 1: the run is in the tree; 0: still copying; < 0: failed. */
static int fill_scratch_tree(tb *t, tb_answer *out, catalog *c, const cat_session *s)
{
    filling *f = &t->fill;
    if (f->made && !atomic_load(&f->over)) {
        out->state = TB_COPYING;
        out->done = atomic_load(&f->done);
        out->total = f->total;
        return 0;
    }
    int rc = f->rc;
    bool ours = f->made && strcmp(f->session->id, s->id) == 0;
    if (ours && rc < 0)
        vp_fail_copy(&f->error);
    end_filling(f);
    if (ours && rc < 0)
        return rc;
    if (tb_scratch_has(t->scratch, s))
        return 1;
    if (!tb_scratch_to_copy(s)) {
        rc = tb_scratch_add(t->scratch, c, s, NULL, NULL);
        return rc < 0 ? rc : 1;
    }
    VP_TRY(begin_filling(t, c, s));
    out->state = TB_COPYING;
    out->total = f->total;
    return 0;
}

/* ---- Our own --------------------------------------------------------------------------------- */

static int choose_port(tb *t)
{
    int last = t->opts.port + PORTS_TRIED - 1;
    for (; t->next_port <= last && t->next_port <= 65535; t->next_port++) {
        if (lb_port_is_free(t->next_port)) {
            t->port = t->next_port;
            return 0;
        }
    }
    t->next_port = t->opts.port; /* for the next attempt */
    return vp_fail(VP_EBUSY, "Ports %d to %d are all in use.", t->opts.port, last);
}

static int start_own_tensorboard(tb *t, tb_answer *out)
{
    tb_program program;
    int rc = tb_program_find(&program);
    if (rc < 0) {
        fail_because(out, &tb_not_installed);
        return rc;
    }
    rc = choose_port(t);
    if (rc == 0)
        rc = tb_program_start(&t->own, &program, tb_scratch_dir(t->scratch), t->port);
    t->xprof = program.kind == TB_XPROF;
    if (rc < 0)
        fail_tensorboard(out, vp_error_last()->message, NULL);
    return rc;
}

/* It exited and is not restarted. This is a failure, unless another program took its port after it
 * was found free. */
static void explain_end(tb *t, tb_answer *out, const child_status *st)
{
    const tb_cause *why = tb_cause_of(st->log);
    end_own(t);
    if (why && why->port_taken) {
        t->next_port = t->port + 1;
        out->state = TB_STARTING;
        (void)start_own_tensorboard(t, out);
        out->port = t->port;
        return;
    }
    if (why) {
        fail_because(out, why);
        return;
    }
    fail_tensorboard(out, "", NULL);
    if (st->restarts)
        snprintf(out->message, sizeof out->message,
                 "TensorBoard exited %u times in a row, last with exit code %d.", st->restarts + 1,
                 st->exit_code);
    else
        snprintf(out->message, sizeof out->message,
                 "TensorBoard exited with code %d before it answered.", st->exit_code);
}

/* Queries the TensorBoard that we started. A failure stops it, so that the next request starts it
 * again. */
static void look_at_own(tb *t, tb_answer *out, const cat_session *s)
{
    VP_CLEANUP(vp_buf_free) vp_buf runs;
    tb_place place = {.port = t->port};
    child_status st;
    bool plugin;
    vp_buf_init(&runs, VP_LOCAL_ANSWER_MAX);
    child_look(t->own, &st);
    memcpy(out->log, st.log, sizeof out->log);
    out->ours = true;
    out->port = t->port;
    out->waited_ms = vp_now_ms() - st.started_ms;
    out->again = st.restarts > 0;
    if (!st.running) {
        explain_end(t, out, &st);
        return;
    }
    int rc = tb_get_runs(&runs, &plugin, &place);
    if (rc == VP_ENOTFOUND && !plugin) {
        const tb_cause *why = tb_cause_of(st.log);
        fail_because(out, why ? why : &tb_no_plugin);
        end_own(t);
        return;
    }
    if (rc == 0) { /* it works; restart it from now on */
        child_keep(t->own);
        t->answered = true;
        rc = tb_lists(vp_buf_view(&runs), s->id);
    }
    if (rc == 0) {
        snprintf(out->run, sizeof out->run, "%s", s->id);
        out->xprof = t->xprof;
        out->state = TB_READY;
    } else if (out->waited_ms < START_LIMIT_MS || t->answered) {
        out->state = TB_STARTING;
        out->busy = t->answered && !out->again;
    } else {
        fail_tensorboard(out, "TensorBoard was started but does not answer.", NULL);
        end_own(t);
    }
}

/* ---- The answer ------------------------------------------------------------------------------ */

/* The hosts of the link: the requested one, or all. */
static void put_link_hosts(tb_answer *out, const tb *t, const cat_session *s, const char *host)
{
    char name[VP_MEMBER_NAME_MAX];
    bool links = out->ours && !tb_scratch_in_place(t->scratch, s);
    size_t n = 0, used = 0;
    for (size_t i = tb_next_xplane(s, 0); i < s->file_count; i = tb_next_xplane(s, i + 1)) {
        const cat_file *f = &s->files[i];
        if (host && (f->host >= s->host_count || strcmp(s->hosts[f->host].name, host) != 0))
            continue;
        tb_host_name(name, s, i, links);
        if (n++ < TB_HOSTS_MAX && used < sizeof out->hosts)
            used += (size_t)snprintf(out->hosts + used, sizeof out->hosts - used, "%s%s",
                                     n > 1 ? "," : "", name);
    }
    if (n > TB_HOSTS_MAX || used >= sizeof out->hosts)
        out->hosts[0] = '\0';
}

static bool has_host(const cat_session *s, const char *host)
{
    for (size_t i = tb_next_xplane(s, 0); i < s->file_count; i = tb_next_xplane(s, i + 1))
        if (s->files[i].host < s->host_count && strcmp(s->hosts[s->files[i].host].name, host) == 0)
            return true;
    return false;
}

/* True if a TensorBoard of the user shows the run; it is preferred unless ours is already running.
 */
static bool foreign_knows(tb_answer *out, const tb *t, const cat_session *s)
{
    tb_found found;
    if (t->own || tb_find(&found, t->opts.port, s) < 0)
        return false;
    out->state = TB_READY;
    out->port = found.place.port;
    out->xprof = found.xprof;
    snprintf(out->prefix, sizeof out->prefix, "%s", found.place.prefix);
    snprintf(out->run, sizeof out->run, "%s", found.run);
    return true;
}

static void ask_locked(tb *t, tb_answer *out, catalog *c, const cat_session *s, bool may_start)
{
    if (foreign_knows(out, t, s))
        return;
    if (!may_start) {
        fail_tensorboard(out,
                         "TensorBoard is not started because this server requires a token and "
                         "TensorBoard has no authentication. Start TensorBoard yourself on this "
                         "directory, or start this server with --tensorboard-unguarded.",
                         NULL);
        return;
    }
    if (!t->scratch && tb_scratch_new(&t->scratch, t->opts.in_place) < 0) {
        fail_tensorboard(out, vp_error_last()->message, NULL);
        return;
    }
    /* Started now, so that Python loads while files are being copied. */
    if (!t->own && start_own_tensorboard(t, out) < 0)
        return;
    int rc = fill_scratch_tree(t, out, c, s);
    if (rc < 0)
        fail_tensorboard(out, vp_error_last()->message, NULL);
    else if (rc > 0)
        look_at_own(t, out, s);
}

void tb_ask(tb *t, tb_answer *out, catalog *c, const cat_session *s, const char *host,
            bool may_start)
{
    *out = (tb_answer){.state = TB_NO_XPLANE};
    if (tb_next_xplane(s, 0) == s->file_count)
        return;
    out->state = TB_NO_HOST;
    if (host && !has_host(s, host))
        return;
    pthread_mutex_lock(&t->lock);
    ask_locked(t, out, c, s, may_start);
    if (out->state == TB_READY)
        put_link_hosts(out, t, s, host);
    pthread_mutex_unlock(&t->lock);
}
