#include "trace/capture/session/session_end.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "trace/base/thread.h"
#include "trace/base/time.h"
#include "trace/capture/gpu/gpu_activity.h"
#include "trace/capture/pool/thread_names.h"
#include "trace/capture/session/full.h"
#include "trace/capture/session/past_copy.h"
#include "trace/capture/session/session_switch.h"
#include "trace/capture/threads/own_time.h"
#include "trace/capture/threads/recording_thread.h"

cap_write_fn *cap_writer = cap_write;
static __thread cap_session *calling; /* session of this thread's innermost callback */

static void count_ring(cap_session *s)
{
    vpcap *v = NULL;
    if (vpcap_open(&v, s->pool.image, s->pool.size) == 0)
        session_count_view(&s->result, v);
    vpcap_free(v);
}

/* No thread writes into the image any more: marks it as finished, and counts its content. */
static void complete_image(cap_session *s, bool truncated)
{
    vpcap_header *h = s->pool.head;
    uint64_t nowhere = cap_nowhere_take();
    if (h->flags & VPCAP_IS_FULL) {
        truncated = true;
        s->later_ns = h->later_ns = s->stop.mono_ns - h->stop.mono_ns;
    } else {
        h->stop = s->stop;
    }
    h->gone_dropped_full += nowhere;
    h->flags |= VPCAP_FINISHED | (truncated ? VPCAP_TRUNCATED : 0);
    s->result.truncated = truncated;
    s->result.duration_ns = h->stop.mono_ns - h->start.mono_ns;
    session_count(&s->result, &s->pool);
    thread_names_apply(&s->pool);
    if (h->lost_until)
        count_ring(s);
}

void session_discard(cap_session *s)
{
    s->state = CAP_ENDING;
    session_unlock();
    session_switch_off(s);
    gpu_activity_free(s->gpu);
    if (s->pool_name[0])
        unlinkat(s->run.fd, s->pool_name, 0);
    run_dir_remove(&s->run);
    session_leave_pool(s);
    session_forget(s);
    session_changed();
}

/* Called without the lock; holds it on return. */
static void finish_end(cap_session *s, cap_cut cut)
{
    session_switch_off(s);
    complete_image(s, cut == CAP_CUT || (cut == CAP_CUT_IF_OPEN && session_any_open(&s->pool)));
    s->state = CAP_WRITING;
    s->in_callback = false;
    session_changed();
}

static void enter_callback(cap_session *s)
{
    s->outer = calling;
    calling = s;
}

void session_end(cap_session *s, cap_cut cut)
{
    s->state = CAP_ENDING;
    s->in_callback = s->cfg.device_sync != NULL;
    session_unlock();
    if (s->cfg.device_sync) {
        enter_callback(s);
        own_time_pause();
        s->cfg.device_sync(s->cfg.ctx);
        own_time_resume();
        calling = s->outer;
    }
    finish_end(s, cut);
}

static int write_files(cap_session *s)
{
    vpcap *v = NULL;
    int rc = vpcap_open(&v, s->pool.image, s->pool.size);
    if (rc == 0)
        rc = cap_writer(&s->result.bytes_written, s->run.fd, v, s->gpu, s->cfg.outputs);
    vpcap_free(v);
    if (rc < 0)
        return vp_fail_at(rc, s->run.path, -1, -1);
    if (s->pool_name[0] && !(s->cfg.outputs & VP_OUT_RAW)) /* otherwise writing replaced it */
        unlinkat(s->run.fd, s->pool_name, 0);
    return 0;
}

static void finish_writing(cap_session *s)
{
    run_dir_close(&s->run);
    session_release(s);
    s->in_callback = false;
    s->state = CAP_DONE;
    session_changed();
}

static void say_written(cap_session *s)
{
    session_lock();
    session_await_told(s);
    s->in_callback = true;
    session_unlock();
    enter_callback(s);
    if (s->result.overwritten)
        cap_log(&s->cfg, VP_SAY_INFO, "%llu earlier zone%s overwritten; the last %.6f s are kept",
                (unsigned long long)s->result.overwritten, s->result.overwritten == 1 ? "" : "s",
                (double)s->result.duration_ns / 1e9);
    if (s->later_ns)
        cap_log(&s->cfg, VP_SAY_WARNING,
                "Buffer full after %.6f s; recording stopped, %.3f s are missing. Use --ring 64M "
                "(VP_RING) to keep the newest events, or a larger buffer",
                (double)s->result.duration_ns / 1e9, (double)s->later_ns / 1e9);
    if (s->status < 0)
        cap_log(&s->cfg, VP_SAY_ERROR, "Cannot write the trace: %s", s->error.message);
    else
        cap_log(&s->cfg, VP_SAY_INFO, "Trace saved to: %s/", s->run.path);
    calling = s->outer;
}

static void *write_session(void *ctx)
{
    cap_session *s = ctx;
    sigset_t before;
    run_dir_hold_signal(&before);
    int64_t begin = vp_now_ns();
    s->status = s->past ? past_take(s) : 0;
    if (s->status == 0)
        s->status = write_files(s);
    if (s->status < 0)
        s->error = *vp_error_last();
    if (s->status < 0 && s->past)
        run_dir_remove(&s->run);
    gpu_activity_free(s->gpu);
    s->gpu = NULL;
    session_leave_pool(s);
    run_dir_free_signal(&before);
    s->result.export_ns = vp_now_ns() - begin;
    say_written(s);
    session_lock();
    finish_writing(s);
    session_unlock();
    return NULL;
}

void session_end_called(void)
{
    session_end_telling();
    while (calling) {
        cap_session *s = calling;
        calling = s->outer;
        if (s->pid != getpid())
            continue;
        if (s->state == CAP_WRITING) {
            finish_writing(s);
        } else if (s->state == CAP_ENDING) {
            session_unlock();
            finish_end(s, CAP_CUT);
            session_write(s, true);
        }
    }
}

void session_write(cap_session *s, bool here)
{
    pthread_t thread;
    session_unlock();
    if (here || vp_thread_start(&thread, write_session, s) < 0)
        write_session(s);
    else
        pthread_detach(thread);
    session_lock();
}

bool session_calls_here(const cap_session *s)
{
    const cap_session *c = calling;
    while (c && c != s)
        c = c->outer;
    return c == s || session_is_told_here(s);
}

void session_end_full(void)
{
    cap_session *s = session_recording();
    if (!s || s->pid != getpid() || !session_is_full(s))
        return;
    s->ended_itself = true;
    session_end(s, CAP_CUT);
    session_write(s, false);
}
