#include "trace/capture/session/session_begin.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/capture/disk/small_files.h"
#include "trace/capture/gpu/cupti.h"
#include "trace/capture/pool/clock.h"
#include "trace/capture/session/session_switch.h"
#include "trace/capture/threads/recording_thread.h"
#include "trace/vpcap/vpcap_hold.h"

#define POOL_BYTES_DEFAULT ((size_t)64 << 20)

/* Converts a host's name to a valid file name. */
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

static void put_program_path(char *dst, size_t cap)
{
    ssize_t n = readlink("/proc/self/exe", dst, cap - 1);
    dst[n < 0 ? 0 : n] = 0;
}

/* True if another host of the same run has this name. */
static bool is_host_name_taken(const cap_session *s, const char *host)
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

/* In a job each process is a separate host, named by its rank; without a rank, or if its rank's
 * name is taken, by its process id. */
static void name_session_host(char *host, size_t cap, const cap_session *s, bool is_child)
{
    char rank[32] = "", suffix[64];
    if (s->job.rank >= 0)
        snprintf(rank, sizeof rank, "_rank%lld", (long long)s->job.rank);
    put_host(host, cap, s->cfg.host, rank);
    if (!is_child && !(s->job.id[0] && is_host_name_taken(s, host)))
        return;
    snprintf(suffix, sizeof suffix, "%s_%ld", rank, (long)s->pid);
    put_host(host, cap, s->cfg.host, suffix);
}

static int make_pool_file(cap_session *s, const char *host)
{
    snprintf(s->pool_name, sizeof s->pool_name, "%s.vpcap", host);
    return openat(s->run.fd, s->pool_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int open_pool(cap_session *s, bool is_child)
{
    char host[sizeof((vpcap_header *)NULL)->host];
    size_t bytes = s->cfg.pool_bytes ? s->cfg.pool_bytes : POOL_BYTES_DEFAULT;
    char path[sizeof s->run.path + sizeof s->pool_name] = "";
    int rc, fd = -1;
    name_session_host(host, sizeof host, s, is_child);
    if (!s->cfg.in_memory) {
        fd = make_pool_file(s, host);
        if (fd < 0 && errno == EEXIST && !is_child) { /* another process of the job was faster */
            name_session_host(host, sizeof host, s, true);
            fd = make_pool_file(s, host);
        }
        snprintf(path, sizeof path, "%s/%s", s->run.path, s->pool_name);
        if (fd < 0)
            return vp_fail_at(vp_fail(cap_file_code(errno), "cannot create %s: %s", s->pool_name,
                                      strerror(errno)),
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
    put_program_path(h->program, sizeof h->program);
    snprintf(h->session, sizeof h->session, "%.200s", vp_path_name(s->run.path));
    h->pid = s->pid;
    return 0;
}

static int begin_session_gpu(cap_session *s)
{
    if (s->cfg.gpu == VP_GPU_OFF)
        return 0;
    /* Takes up to 1 ms the first time. It must not run after the GPU is enabled, whose activity
     * would then precede the start. */
    (void)clock_rate();
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

/* Records the job's ids as metadata. */
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

static int prepare_session(void)
{
    clock_begin();
    cap_threads_prepare();
    session_drop_oldest();
    return session_settle();
}

/* Opens the run directory. A forked child that continues to record writes into its parent's, with
 * its own host name. */
static int open_run_dir(cap_session *s, const cap_session *parent)
{
    if (!parent)
        return s->standby ? run_dir_make(&s->run, s->cfg.dir)
                          : job_run_dir(&s->run, s->cfg.dir, &s->job);
    s->run = parent->run;
    s->run.fd = open(s->run.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return s->run.fd < 0 ? vp_fail(cap_file_code(errno), "cannot open the parent's directory") : 0;
}

static void undo_session_begin(cap_session *s, const cap_session *parent)
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
    VP_TRY(prepare_session());
    VP_TRY(session_new(&s, cfg));
    s->standby = standby;
    tell_job(s);
    rc = open_run_dir(s, parent);
    if (rc < 0) {
        session_forget(s);
        return rc;
    }
    rc = open_pool(s, parent != NULL);
    if (rc == 0)
        rc = begin_session_gpu(s);
    if (rc < 0) {
        undo_session_begin(s, parent);
        return rc;
    }
    snprintf(s->result.run_dir, sizeof s->result.run_dir, "%s", s->run.path);
    session_switch_on(s);
    *out = s;
    return 0;
}
