#include "trace/capture/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/base/time.h"
#include "trace/capture/clock.h"
#include "trace/capture/cupti.h"
#include "trace/capture/own_time.h"
#include "trace/capture/recording_thread.h"
#include "trace/capture/small_files.h"
#include "trace/capture/tables.h"
#include "trace/capture/thread_names.h"
#include "trace/image/vpcap_hold.h"

#define POOL_BYTES_DEFAULT ((size_t)64 << 20)
/* What a stop waits for threads that are in the middle of a record: some ns of work, but a thread
 * may have lost its processor just there, and its zone would be missing in the counts. */
#define SETTLE_MS 1000u
#define KEPT_MAX 64u /* results that nobody has waited for */
#define PAIR_TRIES 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
cap_write_fn *cap_writer = cap_write;
static cap_session *sessions; /* newest first */
static cap_session *active;
static uint64_t numbers;
static uint32_t generations;
static bool unsettled;                /* a thread may be in the last pool still */
static __thread cap_session *calling; /* whose callback runs here, the innermost one */
unsigned cap_callback_ms = 10000;

void session_lock(void)
{
    pthread_mutex_lock(&lock);
}

void session_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void session_wait(void)
{
    pthread_cond_wait(&changed, &lock);
}

bool session_wait_until(const struct timespec *until)
{
    return pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, until) != ETIMEDOUT;
}

void session_changed(void)
{
    pthread_cond_broadcast(&changed);
}

cap_session *session_active(void)
{
    return active;
}

bool session_writing(bool with_callbacks)
{
    for (const cap_session *s = sessions; s; s = s->next)
        if ((s->state == CAP_ENDING || s->state == CAP_WRITING) &&
            (with_callbacks || !s->in_callback))
            return true;
    return false;
}

cap_session *session_recording(void)
{
    return active && active->state == CAP_ACTIVE ? active : NULL;
}

bool session_is_full(const cap_session *s)
{
    return s == active && s->state == CAP_ACTIVE &&
           __atomic_load_n(&cap_pool_now.head->flags, __ATOMIC_ACQUIRE) & VPCAP_IS_FULL;
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

vp_recording *session_handle(uint64_t number)
{
    return (vp_recording *)(uintptr_t)number;
}

bool session_calls_here(const cap_session *s)
{
    const cap_session *c = calling;
    while (c && c != s)
        c = c->outer;
    return c == s || session_is_told_here(s);
}

cap_session *session_find(const vp_recording *r)
{
    cap_session *s = sessions;
    while (s && s->number != (uint64_t)(uintptr_t)r)
        s = s->next;
    return s;
}

void cap_log(const vp_config *cfg, int level, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    if (!cfg->log)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    cfg->log(cfg->ctx, level, text);
}

/* A host's name becomes a file's. */
static void put_host(char *dst, size_t cap, const char *host, const char *suffix)
{
    char own[HOST_NAME_MAX + 1] = "localhost";
    size_t n;
    if (!host || !*host) {
        if (gethostname(own, sizeof own - 1) != 0)
            own[0] = 0;
        own[sizeof own - 1] = 0;
        host = own[0] ? own : "localhost";
    }
    snprintf(dst, cap, "%.*s%s", 200, host, suffix);
    n = strlen(dst);
    for (size_t i = 0; i < n; i++)
        if (dst[i] == ':' || dst[i] == '/' || (unsigned char)dst[i] < 0x20 || dst[i] == 0x7f)
            dst[i] = '_';
    if (dst[0] == '.')
        dst[0] = '_';
}

static void put_program(char *dst, size_t cap)
{
    ssize_t n = readlink("/proc/self/exe", dst, cap - 1);
    dst[n < 0 ? 0 : n] = 0;
}

/* Whether somebody of the same run has this name. */
static bool is_taken(const cap_session *s, const char *host)
{
    static const char *const endings[] = {".vpcap", ".xplane.pb", ".trace.json.gz"};
    char name[sizeof s->pool_name];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(name, sizeof name, "%s%s", host, endings[i]);
        if (faccessat(s->run.fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
    }
    return false;
}

/* Of a job each process is a host: by its rank, and without or beside one by its number. */
static void name_host(char *host, size_t cap, const cap_session *s, bool is_child)
{
    char rank[32] = "", suffix[64];
    if (s->job.rank >= 0)
        snprintf(rank, sizeof rank, "_rank%lld", (long long)s->job.rank);
    put_host(host, cap, s->cfg.host, rank);
    if (!is_child && !(s->job.id[0] && is_taken(s, host)))
        return;
    snprintf(suffix, sizeof suffix, "%s_%ld", rank, (long)s->pid);
    put_host(host, cap, s->cfg.host, suffix);
}

static int open_pool(cap_session *s, bool is_child)
{
    char host[sizeof((vpcap_header *)NULL)->host];
    size_t bytes = s->cfg.pool_bytes ? s->cfg.pool_bytes : POOL_BYTES_DEFAULT;
    char path[sizeof s->run.path + sizeof s->pool_name] = "";
    int rc, fd = -1;
    name_host(host, sizeof host, s, is_child);
    if (!s->cfg.in_memory) {
        snprintf(s->pool_name, sizeof s->pool_name, "%s.vpcap", host);
        snprintf(path, sizeof path, "%s/%s", s->run.path, s->pool_name);
        fd = openat(s->run.fd, s->pool_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0)
            return vp_fail_at(
                vp_fail(cap_file_code(errno), "cannot make %s: %s", s->pool_name, strerror(errno)),
                s->run.path, -1, -1);
    }
    if (fd >= 0 && s->standby && vpcap_hold(fd))
        s->lock_fd = fd;
    rc = pool_open(&s->pool, bytes, s->cfg.mode == VP_RING, fd, path);
    if (fd >= 0 && fd != s->lock_fd)
        close(fd);
    if (rc < 0) {
        if (fd >= 0)
            unlinkat(s->run.fd, s->pool_name, 0);
        return vp_fail_at(rc, s->run.path, -1, -1);
    }
    vpcap_header *h = s->pool.head;
    memcpy(h->host, host, sizeof h->host);
    put_program(h->program, sizeof h->program);
    snprintf(h->session, sizeof h->session, "%.200s", vp_path_name(s->run.path));
    h->pid = s->pid;
    return 0;
}

static int begin_gpu(cap_session *s)
{
    if (s->cfg.gpu == VP_GPU_OFF)
        return 0;
    (void)clock_rate(); /* 1 ms the first time: what the GPU did in it would be before the start */
    int rc = cupti_start(s->cfg.gpu, s->cfg.mode == VP_RING);
    s->result.gpu_status = rc;
    if (rc < 0 && s->cfg.gpu == VP_GPU_REQUIRE)
        return rc;
    s->notice_level = VP_SAY_WARNING;
    if (rc < 0) {
        snprintf(s->notice, sizeof s->notice, "No device activity: %s", vp_error_last()->message);
        s->notice_level = cupti_is_used() ? VP_SAY_WARNING : VP_SAY_INFO;
    } else {
        cupti_caveat(s->notice, sizeof s->notice);
    }
    return 0;
}

static void release(cap_session *s)
{
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    s->lock_fd = -1;
}

void session_forget(cap_session *s)
{
    for (cap_session **at = &sessions; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    pool_close(&s->pool);
    release(s);
    run_dir_close(&s->run);
    vp_free(s->dir);
    vp_free(s->host);
    vp_free(s->past);
    vp_free(s);
}

static int make_session(cap_session **out, const vp_config *cfg)
{
    char full[VP_PATH_MAX];
    cap_session *s = vp_calloc(1, sizeof *s);
    if (!s)
        return vp_fail(VP_ENOMEM, "out of memory: a recording");
    s->run.fd = s->lock_fd = -1;
    s->cfg = *cfg;
    s->dir = vp_strdup(cap_full_dir(full, cfg->dir && *cfg->dir ? cfg->dir : "profiles"));
    s->host = vp_strdup(cfg->host ? cfg->host : "");
    s->pid = getpid();
    job_read(&s->job, NULL);
    s->result.version = 1;
    if (!s->dir || !s->host) {
        session_forget(s);
        return vp_fail(VP_ENOMEM, "out of memory: a recording");
    }
    s->cfg.dir = s->dir;
    s->cfg.host = s->host;
    if (!(cfg->outputs & ~(unsigned)VP_OUT_RAW))
        s->cfg.outputs |= VP_OUT_XPLANE | VP_OUT_TRACE_JSON;
    s->cfg.level = cfg->level ? cfg->level : VP_LEVEL_INFO;
    *out = s;
    return 0;
}

/* What of the job readers may want to know. */
static void tell_job(const cap_session *s)
{
    static const char *const keys[] = {"job.rank", "job.local_rank", "job.ranks"};
    const int64_t values[] = {s->job.rank, s->job.local_rank, s->job.ranks};
    if (s->job.id[0])
        vp_meta_str("job.id", s->job.id);
    for (size_t i = 0; i < 3; i++)
        if (values[i] >= 0)
            vp_meta_int(keys[i], values[i]);
}

static void enlist(cap_session *s)
{
    s->number = (++numbers) << 4;
    s->next = sessions;
    sessions = s;
}

int session_derive(cap_session **out, const vp_config *cfg)
{
    cap_session *s;
    VP_TRY(make_session(&s, cfg));
    s->state = CAP_WRITING;
    s->settled = true;
    enlist(s);
    *out = s;
    return 0;
}

static void switch_on(cap_session *s)
{
    vpcap_header *h = s->pool.head;
    h->start_ticks_per_s = clock_rate();
    generations += 2;
    generations = generations ? generations : 2;
    s->generation = generations | clock_is_processor();
    cap_pool_now = s->pool;
    cap_tables_enter(&cap_pool_now);
    VP__STORE(vp__level, s->cfg.level);
    clock_pair(&h->start, PAIR_TRIES);
    s->result.start_unix_ns = h->start.unix_ns;
    enlist(s);
    active = s;
    grow_start(&cap_pool_now, s->cfg.log ? s->number : 0, session_tell_full);
    __atomic_store_n(&vp__on, s->generation, __ATOMIC_RELEASE);
}

/* Results that nobody waits for do not pile up. */
static void drop_oldest_results(void)
{
    cap_session *oldest = NULL;
    unsigned n = 0;
    for (cap_session *s = sessions; s; s = s->next)
        if (s->state == CAP_DONE && !s->waiters) {
            oldest = s;
            n++;
        }
    if (n > KEPT_MAX)
        session_forget(oldest);
}

static int prepare(void)
{
    VP_TRY(session_install());
    cap_threads_prepare();
    drop_oldest_results();
    if (unsettled && !cap_settled(SETTLE_MS))
        return vp_fail(VP_EBUSY, "a thread is still inside the previous recording");
    unsettled = false;
    return 0;
}

/* A child that follows writes beside its parent, under a name of its own. */
static int open_run(cap_session *s, const cap_session *parent)
{
    if (!parent)
        return s->standby ? run_dir_make(&s->run, s->cfg.dir)
                          : job_run_dir(&s->run, s->cfg.dir, &s->job);
    s->run = parent->run;
    s->run.fd = open(s->run.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return s->run.fd < 0 ? vp_fail(cap_file_code(errno), "cannot open the parent's directory") : 0;
}

static void undo(cap_session *s, const cap_session *parent)
{
    if (s->cfg.gpu != VP_GPU_OFF)
        gpu_activity_free(cupti_stop());
    if (s->pool.image && s->pool_name[0])
        unlinkat(s->run.fd, s->pool_name, 0);
    if (!parent)
        run_dir_remove(&s->run);
    session_forget(s);
}

int session_begin(cap_session **out, const vp_config *cfg, const cap_session *parent, bool standby)
{
    cap_session *s = NULL;
    int rc;
    VP_TRY(prepare());
    VP_TRY(make_session(&s, cfg));
    s->standby = standby;
    tell_job(s);
    rc = open_run(s, parent);
    if (rc < 0) {
        session_forget(s);
        return rc;
    }
    rc = open_pool(s, parent != NULL);
    if (rc == 0)
        rc = begin_gpu(s);
    if (rc < 0) {
        undo(s, parent);
        return rc;
    }
    snprintf(s->result.run_dir, sizeof s->result.run_dir, "%s", s->run.path);
    switch_on(s);
    *out = s;
    return 0;
}

static void count_ring(cap_session *s)
{
    vpcap *v = NULL;
    if (vpcap_open(&v, s->pool.image, s->pool.size) == 0)
        session_count_view(&s->result, v);
    vpcap_free(v);
}

/* Nobody writes any more: the image says so, and what is in it is counted. */
static void complete(cap_session *s, bool truncated)
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

/* A thread that stopped in the middle of a record may go on writing into it: then it stays for the
 * life of the process, which is some megabytes of address space in a case that does not happen. */
static void leave_pool(cap_session *s)
{
    if (s->settled || cap_settled(SETTLE_MS))
        pool_close(&s->pool);
    else
        s->pool = (cap_pool){.image = NULL};
}

static void end_gpu(cap_session *s)
{
    s->gpu = s->cfg.gpu == VP_GPU_OFF ? NULL : cupti_stop();
    if (!s->gpu)
        return;
    s->result.gpu_records = s->gpu->count;
    s->result.gpu_dropped = s->gpu->dropped;
    s->result.gpu_status = s->gpu->status;
}

/* After this its image is nobody's but ours. */
static void switch_off(cap_session *s)
{
    __atomic_store_n(&vp__on, 0, __ATOMIC_SEQ_CST);
    s->settled = cap_settled(SETTLE_MS);
    clock_pair(&s->stop, PAIR_TRIES);
    end_gpu(s);
    cap_tables_leave();
    grow_stop(&cap_pool_now);
    session_lock();
    while (s->readers)
        session_wait();
    s->pool = (cap_pool){.image = cap_pool_now.image,
                         .size = cap_pool_now.size,
                         .head = cap_pool_now.head,
                         .ring = cap_pool_now.ring,
                         .grow = cap_pool_now.grow,
                         .sealed = cap_pool_now.sealed,
                         .ended = cap_pool_now.ended};
    unsettled = !s->settled;
}

void session_discard(cap_session *s)
{
    s->state = CAP_ENDING;
    session_unlock();
    switch_off(s);
    gpu_activity_free(s->gpu);
    if (s->pool_name[0])
        unlinkat(s->run.fd, s->pool_name, 0);
    run_dir_remove(&s->run);
    leave_pool(s);
    active = NULL;
    session_forget(s);
    session_changed();
}

/* The lock is off at first, and held at the end. */
static void finish_end(cap_session *s, cap_cut cut)
{
    switch_off(s);
    complete(s, cut == CAP_CUT || (cut == CAP_CUT_IF_OPEN && session_any_open(&s->pool)));
    active = NULL;
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
    if (s->pool_name[0] && !(s->cfg.outputs & VP_OUT_RAW)) /* else it was replaced */
        unlinkat(s->run.fd, s->pool_name, 0);
    return 0;
}

static void finish_writing(cap_session *s)
{
    run_dir_close(&s->run);
    release(s);
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
        cap_log(&s->cfg, VP_SAY_INFO, "%llu earlier zone%s made room: the last %.6f s are kept",
                (unsigned long long)s->result.overwritten, s->result.overwritten == 1 ? "" : "s",
                (double)s->result.duration_ns / 1e9);
    if (s->later_ns)
        cap_log(&s->cfg, VP_SAY_WARNING,
                "The pool was full after %.6f s, and that was the end of it: %.3f s more are "
                "missing. A ring keeps the newest, a larger pool more",
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
    leave_pool(s);
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

cap_session *session_orphan(void)
{
    cap_session *was = active;
    pthread_cond_init(&changed, NULL); /* those who waited are in the parent */
    vp__on = 0;
    active = NULL;
    unsettled = false;
    cap_tables_leave();
    for (cap_session *s = sessions; s; s = s->next) {
        grow_close(&s->pool.grow);
        s->pool = (cap_pool){.image = NULL}; /* it did not come along */
        release(s);                          /* the parent holds it on */
        s->readers = s->waiters = 0;
        s->telling = false;
        s->state = CAP_DONE;
    }
    return was;
}
