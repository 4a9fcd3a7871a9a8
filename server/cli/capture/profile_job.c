#include "server/cli/capture/profile_job.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/cli/capture/profile_start.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/base/time.h"
#include "trace/source/fetch_frames.h"

#define TURN_MS 200
#define TWICE_MS 300
/* Lead time in which all targets receive the common start time. */
#define COMMON_START_MS 1000
#define COMMON_START_EACH_MS 4
/* Maximum number of simultaneous requests, and the file descriptors needed per target and in total,
 * here and in the fetcher. */
#define TOGETHER_MAX 1024u
#define FILES_EACH 4u
#define FILES_ELSE 64u
/* gRPC's DEADLINE_EXCEEDED. */
#define DEADLINE 4

/* ---- Failures -------------------------------------------------------------------------------- */

const char *profile_word(int code, int64_t status)
{
    static const struct {
        int code;
        const char *word;
    } words[] = {{VP_EBUSY, "busy"},
                 {VP_EREFUSED, "refused"},
                 {VP_ENOTFOUND, "unreachable"},
                 {VP_EUNSUPPORTED, "no_service"},
                 {VP_EEMPTY, "empty"},
                 {VP_ECORRUPT, "damaged"},
                 {VP_ENOSPC, "disk"},
                 {VP_EIO, "disk"},
                 {VP_EPERM, "disk"},
                 {VP_ECANCELLED, "cancelled"}};
    if (status == DEADLINE)
        return "deadline";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].code == code)
            return words[i].word;
    return "failed";
}

void profile_target_fail(profile_target *t, int64_t status)
{
    const vp_error *e = vp_error_last();
    t->code = e->code;
    t->word = profile_word(e->code, status);
    snprintf(t->error, sizeof t->error, "%s%s%s", e->path[0] ? e->path : "", e->path[0] ? ": " : "",
             e->message);
}

static int64_t status_of_failure(vp_str failure)
{
    vp_pb p = vp_pb_of(failure);
    vp_pb_field f;
    while (vp_pb_next(&p, &f) == 1)
        if (f.number == FETCH_FAILURE_STATUS && f.u < 1000)
            return (int64_t)f.u;
    return 0;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static int put_capture_question(vp_buf *b, const profile_job *j, const profile_target *t,
                                int64_t start_ns)
{
    const struct {
        uint32_t field;
        int64_t value;
    } numbers[] = {
        {FETCH_CAPTURE_DURATION_MS, j->duration_ms},
        {FETCH_CAPTURE_START_NS, start_ns},
        {FETCH_CAPTURE_HOST_TRACER, j->host_tracer},
        {FETCH_CAPTURE_DEVICE_TRACER, j->device_tracer},
        {FETCH_CAPTURE_PYTHON_TRACER, j->python_tracer},
        {FETCH_CAPTURE_PATIENCE_MS, j->patience_ms},
        {FETCH_CAPTURE_WAITS, (int64_t)j->n > j->parallel},
    };
    VP_CLEANUP(vp_buf_free) vp_buf body;
    vp_buf_init(&body, FETCH_ASK_MAX);
    vp_pb_put_len(&body, FETCH_CAPTURE_SESSION, vp_str_of(j->run.run));
    vp_pb_put_len(&body, FETCH_CAPTURE_ROOT, vp_str_of(j->run.root));
    vp_pb_put_len(&body, FETCH_CAPTURE_HOST, vp_str_of(t->name->target));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        vp_pb_put_u64(&body, numbers[i].field, (uint64_t)numbers[i].value);
    for (size_t i = 0; j->options && i < j->options->n; i++)
        vp_pb_put_len(&body, FETCH_CAPTURE_OPTION, vp_str_of(j->options->items[i]));
    vp_pb_put_u64(b, FETCH_ASK_WHAT, FETCH_CAPTURE);
    vp_pb_put_len(b, FETCH_ASK_URL, vp_str_of(t->name->target));
    vp_pb_put_len(b, FETCH_ASK_BODY, vp_buf_view(&body));
    return body.status < 0 ? body.status : b->status;
}

static int ask_target(profile_job *j, fetcher *f, profile_target *t, int64_t start_ns)
{
    VP_CLEANUP(vp_buf_free) vp_buf question;
    vp_buf_init(&question, FETCH_ASK_MAX);
    VP_TRY(put_capture_question(&question, j, t, start_ns));
    VP_TRY(landing_open(&t->file, &j->run, t->name->host));
    return fetcher_ask(f, vp_buf_view(&question), &t->file.fd, 1, &t->stream);
}

static void tell_target_change(const profile_job *j, const profile_target *t)
{
    if (j->told)
        j->told(j->ctx, j, t);
}

static void end_target(profile_job *j, profile_target *t)
{
    t->phase = PROFILE_ENDED;
    landing_drop(&t->file);
    if (t->stream >= 0)
        close(t->stream);
    t->stream = -1;
    tell_target_change(j, t);
}

static int64_t now_unix_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void begin_target(profile_job *j, fetcher *f, profile_target *t, int64_t start_ns)
{
    t->phase = PROFILE_RUNNING;
    t->left_ms = j->duration_ms;
    t->asked_ns = start_ns ? start_ns : now_unix_ns();
    if (ask_target(j, f, t, start_ns) < 0) {
        profile_target_fail(t, 0);
        end_target(j, t);
    } else {
        tell_target_change(j, t);
    }
}

/* ---- Hearing --------------------------------------------------------------------------------- */

static void take_target_progress(profile_target *t, vp_str payload)
{
    vp_pb p = vp_pb_of(payload);
    vp_pb_field f;
    while (vp_pb_next(&p, &f) == 1)
        if (f.number == FETCH_PROGRESS_STATE && f.u <= FETCH_RECEIVING)
            t->state = (fetch_capture_state)f.u;
        else if (f.number == FETCH_PROGRESS_BYTES)
            t->bytes = (int64_t)(f.u & INT64_MAX);
        else if (f.number == FETCH_PROGRESS_LEFT_MS)
            t->left_ms = (int64_t)(f.u & INT64_MAX);
}

static int keep_landed_file(profile_target *t)
{
    struct stat st;
    if (fstat(t->file.fd, &st) == 0)
        t->bytes = st.st_size;
    t->start_ns = profile_start_ns(t->file.fd);
    return landing_keep(&t->file);
}

/* An old server writes the profile itself; true if it did so on a shared disk, at the expected
 * path. */
static bool landed_by_itself(profile_target *t)
{
    struct stat st;
    if (t->code != VP_EUNSUPPORTED || stat(t->file.final, &st) < 0 || !S_ISREG(st.st_mode) ||
        !st.st_size)
        return false;
    t->bytes = st.st_size;
    t->code = 0;
    t->word = NULL;
    t->error[0] = 0;
    return true;
}

static void hear_target(profile_job *j, profile_target *t)
{
    VP_CLEANUP(vp_buf_free) vp_buf payload;
    vp_buf_init(&payload, FETCH_FRAME_MAX + 2);
    fetch_frame kind = FETCH_DATA;
    int rc = fetch_next(t->stream, &kind, &payload);
    if (rc >= 0 && kind == FETCH_PROGRESS) {
        take_target_progress(t, vp_buf_view(&payload));
        tell_target_change(j, t);
        return;
    }
    if (rc >= 0 && kind != FETCH_DONE)
        return;
    if (rc >= 0)
        rc = keep_landed_file(t);
    if (rc < 0) {
        profile_target_fail(t, kind == FETCH_FAILED ? status_of_failure(vp_buf_view(&payload)) : 0);
        (void)landed_by_itself(t);
    }
    end_target(j, t);
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* The first signal of the user ends the captures and collects their data; the second one cancels
 * everything. */
static void heed_user(profile_job *j, int *heeded)
{
    int64_t now = vp_now_ms();
    int stops = j->stops ? (int)*j->stops : 0;
    if (!stops || *heeded > 1 || (*heeded == 1 && stops < 2))
        return;
    if (*heeded &&
        now - j->stopped_ms < TWICE_MS) { /* some senders signal both the process and its group */
        *j->stops = 1;
        return;
    }
    stops = ++*heeded;
    j->stopped_ms = now;
    for (size_t i = 0; i < j->n; i++) {
        profile_target *t = &j->targets[i];
        if (t->phase == PROFILE_RUNNING && stops == 1) {
            (void)fetch_put(t->stream, FETCH_END, VP_STR_NONE);
        } else if (t->phase != PROFILE_ENDED) {
            vp_fail(VP_ECANCELLED, "canceled");
            profile_target_fail(t, 0);
            end_target(j, t);
        }
    }
}

/* Waits for events of any target. */
static int wait_for_some(profile_job *j, struct pollfd *fds, size_t *of)
{
    nfds_t n = 0;
    for (size_t i = 0; i < j->n; i++)
        if (j->targets[i].phase == PROFILE_RUNNING) {
            fds[n] = (struct pollfd){.fd = j->targets[i].stream, .events = POLLIN};
            of[n++] = i;
        }
    if (poll(fds, n, TURN_MS) < 0)
        return errno == EINTR ? 0 : vp_fail(VP_EIO, "poll failed: %s", strerror(errno));
    for (nfds_t k = 0; k < n; k++)
        if (fds[k].revents && j->targets[of[k]].phase == PROFILE_RUNNING)
            hear_target(j, &j->targets[of[k]]);
    return 0;
}

static size_t count_targets_in(const profile_job *j, profile_phase phase)
{
    size_t n = 0;
    for (size_t i = 0; i < j->n; i++)
        n += j->targets[i].phase == phase;
    return n;
}

/* Number of simultaneous requests: all, limited by file descriptors. */
static size_t targets_at_once(const profile_job *j)
{
    struct rlimit files;
    size_t most = TOGETHER_MAX;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < (rlim_t)TOGETHER_MAX * FILES_EACH)
        most = files.rlim_cur > FILES_ELSE + FILES_EACH
                   ? (size_t)(files.rlim_cur - FILES_ELSE) / FILES_EACH
                   : 1;
    return j->n < most ? j->n : most;
}

/* Common start time of one batch. */
static int64_t common_start(size_t n)
{
    int64_t ms = COMMON_START_MS + (int64_t)n * COMMON_START_EACH_MS;
    return n < 2 ? 0 : now_unix_ns() + ms * INT64_C(1000000);
}

/* Lets up to `parallel` targets that have data send it. */
static void give_leave(profile_job *j)
{
    int64_t sending = 0;
    for (size_t i = 0; i < j->n; i++)
        sending += j->targets[i].phase == PROFILE_RUNNING && j->targets[i].may_come;
    for (size_t i = 0; i < j->n && sending < j->parallel; i++) {
        profile_target *t = &j->targets[i];
        if (t->phase != PROFILE_RUNNING || t->may_come || t->state != FETCH_RECEIVING)
            continue;
        t->may_come = true;
        sending++;
        (void)fetch_put(t->stream, FETCH_PROGRESS, VP_STR_NONE);
    }
}

static int run_all(profile_job *j, fetcher *f, struct pollfd *fds, size_t *of)
{
    size_t next = 0, batch = targets_at_once(j);
    int heeded = 0;
    for (;;) {
        heed_user(j, &heeded);
        if (next < j->n && !count_targets_in(j, PROFILE_RUNNING)) {
            size_t n = j->n - next < batch ? j->n - next : batch;
            int64_t start = common_start(n);
            for (size_t end = next + n; next < end; next++)
                if (j->targets[next].phase == PROFILE_WAITING)
                    begin_target(j, f, &j->targets[next], start);
        }
        if (count_targets_in(j, PROFILE_ENDED) == j->n)
            return 0;
        give_leave(j);
        VP_TRY(wait_for_some(j, fds, of));
    }
}

static void find_start_spread(profile_job *j)
{
    int64_t first = INT64_MAX, last = 0;
    size_t known = 0;
    for (size_t i = 0; i < j->n; i++) {
        int64_t at = j->targets[i].start_ns;
        known += at != 0;
        first = at && at < first ? at : first;
        last = at > last ? at : last;
    }
    j->spread_ms = known > 1 ? (last - first) / 1000000 : -1;
}

static int place_at(profile_job *j, const source_address *at)
{
    char path[VP_PATH_MAX];
    snprintf(path, sizeof path, "plugins/profile/%s", j->run.run);
    VP_CLEANUP(vp_free_ptr) char *url = source_address_beneath(at, path);
    VP_NEED(url);
    return snprintf(j->place, sizeof j->place, "%s", url) < (int)sizeof j->place
               ? 0
               : vp_fail(VP_EARG, "--out: the address is too long");
}

static int place_here(profile_job *j)
{
    snprintf(j->place, sizeof j->place, "%s", j->run.path);
    for (size_t i = 0; i < j->n; i++)
        VP_TRY(landing_look(&j->targets[i].file, &j->run, j->targets[i].name->host));
    return 0;
}

int profile_job_open(profile_job *j, const profile_name *names, size_t n, const char *out,
                     const char *name, const source_address *at)
{
    j->targets = vp_calloc(n, sizeof *j->targets);
    VP_NEED(j->targets);
    j->n = n;
    j->spread_ms = -1;
    for (size_t i = 0; i < n; i++)
        j->targets[i] = (profile_target){.name = &names[i], .stream = -1, .file = {.fd = -1}};
    VP_TRY(run_landing_make(&j->run, out, name, at));
    return at ? place_at(j, at) : place_here(j);
}

/* 0 if a capture was stored, else the first failure. */
static int job_outcome(const profile_job *j)
{
    const profile_target *first = NULL;
    for (size_t i = 0; i < j->n; i++)
        if (!j->targets[i].code)
            return 0;
        else if (!first)
            first = &j->targets[i];
    return first ? vp_fail(first->code, "%s", first->error) : 0;
}

int profile_job_run(profile_job *j, fetcher *f)
{
    struct pollfd *fds = vp_calloc(j->n, sizeof *fds);
    size_t *of = vp_calloc(j->n, sizeof *of);
    int rc = fds && of ? run_all(j, f, fds, of) : vp_no_memory();
    vp_free(fds);
    vp_free(of);
    find_start_spread(j);
    if (rc >= 0)
        rc = job_outcome(j);
    if (rc < 0)
        run_landing_remove(&j->run);
    return rc;
}

void profile_job_close(profile_job *j)
{
    for (size_t i = 0; i < j->n; i++) {
        landing_drop(&j->targets[i].file);
        if (j->targets[i].stream >= 0)
            close(j->targets[i].stream);
    }
    vp_free(j->targets);
    j->targets = NULL;
    j->n = 0;
}
