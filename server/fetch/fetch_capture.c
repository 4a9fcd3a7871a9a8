/* Handles FETCH_CAPTURE: captures a profile of one process through XLA's ProfilerService, and
 * writes the XSpace to the descriptor of the request. */
#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "server/fetch/grpc/grpc_call.h"
#include "server/fetch/grpc/profile_answer.h"
#include "server/fetch/grpc/profile_request.h"
#include "server/fetch/question/fetch_answer.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/base/time.h"

#define REQUEST_MAX (64u << 10)
/* Small parts of the XSpace are buffered up to this size; parts from half of it on are written
 * directly. */
#define PIECE (16u << 10)
#define DIRECT (PIECE / 2)
#define PROGRESS_MS 200
/* Interval of Terminate requests: a server only accepts one while its session is active. */
#define TERMINATE_EVERY_MS 1000
/* Time for libcurl to end a call after its status arrived. */
#define AFTER_STATUS_MS 400
/* Time limit for terminating the session after the client is gone. */
#define ABANDONED_MS 3000
/* Added to our own time limit, so that the server can clean up first. */
#define SERVER_PATIENCE_MS 600000

typedef struct capture {
    fetch_ask *ask;
    profile_request request;
    profile_answer answer;
    char *piece;
    size_t piece_n;
    CURLM *multi;
    grpc_call profile, terminate;
    bool terminating;                  /* `terminate` is open and in the multi handle */
    int64_t begun_ms, over_ms;         /* when the server should have finished recording */
    int64_t last_bytes, last_bytes_ms; /* when the last data arrived */
    int64_t next_progress_ms;
    int64_t status_ms;             /* when gRPC's status arrived, which is last; 0: not yet */
    int64_t stop_ms, next_stop_ms; /* when termination was requested; 0: not yet */
    bool abandoned;
    bool in_vain;  /* termination was requested before any data arrived */
    bool may_come; /* all data of the XSpace that the client needs */
    bool finished; /* the profile's call has ended with this code */
    CURLcode code;
} capture;

/* ---- The XSpace ------------------------------------------------------------------------------ */

static int write_out(capture *c, const char *p, size_t n)
{
    if (vp_fs_write_all(c->ask->files[0], p, n) >= 0)
        return 0;
    int code = errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? VP_ENOSPC : VP_EIO;
    return vp_fail(code, "cannot write the profile: %s", strerror(errno));
}

static int flush_piece(capture *c)
{
    size_t n = c->piece_n;
    c->piece_n = 0;
    return n ? write_out(c, c->piece, n) : 0;
}

static int write_xspace(void *ctx, const void *data, size_t n)
{
    capture *c = ctx;
    if (n >= DIRECT || c->piece_n + n > PIECE)
        VP_TRY(flush_piece(c));
    if (n >= DIRECT)
        return write_out(c, data, n);
    memcpy(c->piece + c->piece_n, data, n);
    c->piece_n += n;
    return 0;
}

static int take_profile_bytes(void *ctx, const void *data, size_t n)
{
    capture *c = ctx;
    return profile_answer_push(&c->answer, data, n);
}

static int take_nothing(void *ctx, const void *data, size_t n)
{
    (void)ctx;
    (void)data;
    (void)n;
    return 0;
}

static fetch_capture_state capture_state_of(capture *c)
{
    curl_off_t us = 0;
    if (c->answer.xspace_bytes)
        return FETCH_RECEIVING;
    (void)curl_easy_getinfo(c->profile.easy, CURLINFO_PRETRANSFER_TIME_T, &us);
    return us > 0 ? FETCH_PROFILING : FETCH_CONNECTING;
}

/* ---- The end before its time ----------------------------------------------------------------- */

static int begin_terminate(capture *c)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, REQUEST_MAX);
    vp_pb_put_len(&b, 1, c->request.session);
    c->next_stop_ms = vp_now_ms() + TERMINATE_EVERY_MS;
    int rc = b.status < 0 ? b.status
                          : grpc_call_open(&c->terminate, c->ask->url, "Terminate", vp_buf_view(&b),
                                           ABANDONED_MS, take_nothing, NULL);
    /* Uses a separate connection, because that of the profile may be congested. */
    if (rc >= 0 && (curl_easy_setopt(c->terminate.easy, CURLOPT_FRESH_CONNECT, 1L) ||
                    curl_easy_setopt(c->terminate.easy, CURLOPT_TIMEOUT_MS, (long)ABANDONED_MS) ||
                    curl_multi_add_handle(c->multi, c->terminate.easy)))
        rc = vp_fail(VP_EIO, "libcurl error: cannot start a second call");
    c->terminating = rc >= 0;
    if (rc < 0)
        grpc_call_close(&c->terminate);
    return rc;
}

static void end_terminate(capture *c)
{
    if (!c->terminating)
        return;
    (void)curl_multi_remove_handle(c->multi, c->terminate.easy);
    grpc_call_close(&c->terminate);
    c->terminating = false;
}

static void ask_for_end(capture *c)
{
    if (!c->stop_ms) {
        c->stop_ms = vp_now_ms();
        c->over_ms = c->stop_ms < c->over_ms ? c->stop_ms : c->over_ms;
        c->may_come = true;
        c->in_vain = capture_state_of(c) == FETCH_CONNECTING;
    }
}

/* Any other message of the client requests termination, and so does a disconnect. Frame headers are
 * never truncated. */
static void hear_asker(capture *c)
{
    uint32_t head[2];
    ssize_t n = recv(c->ask->stream, head, sizeof head, MSG_DONTWAIT);
    if (n == (ssize_t)sizeof head && head[0] == FETCH_PROGRESS)
        c->may_come = true;
    else if (n >= 0 || (errno != EAGAIN && errno != EINTR))
        ask_for_end(c);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        c->abandoned = true;
}

/* ---- While it runs --------------------------------------------------------------------------- */

static int tell_capture_progress(capture *c, int64_t now)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, 64);
    if (now < c->next_progress_ms || c->abandoned)
        return 0;
    c->next_progress_ms = now + PROGRESS_MS;
    vp_pb_put_u64(&b, FETCH_PROGRESS_STATE, capture_state_of(c));
    vp_pb_put_u64(&b, FETCH_PROGRESS_BYTES, (uint64_t)c->answer.xspace_bytes);
    vp_pb_put_u64(&b, FETCH_PROGRESS_LEFT_MS, now < c->over_ms ? (uint64_t)(c->over_ms - now) : 0);
    if (b.status >= 0 && fetch_put(c->ask->stream, FETCH_PROGRESS, vp_buf_view(&b)) < 0)
        c->abandoned = true;
    return b.status;
}

/* The server is silent for longer than its job takes. */
static int check_patience(capture *c, int64_t now)
{
    if (c->profile.body_bytes != c->last_bytes) {
        c->last_bytes = c->profile.body_bytes;
        c->last_bytes_ms = now;
    }
    int64_t since = c->last_bytes_ms > c->over_ms ? c->last_bytes_ms : c->over_ms;
    if (now - since <= (int64_t)c->request.patience_ms)
        return 0;
    c->ask->status = GRPC_DEADLINE;
    if (c->last_bytes)
        return vp_fail(VP_EREMOTE, "timed out: no data for %lld ms, after %lld bytes",
                       (long long)(now - since), (long long)c->last_bytes);
    return vp_fail(VP_EREMOTE, "timed out: no response within %lld ms of the end of the capture%s",
                   (long long)(now - since),
                   c->request.start_ns ? "; check the clock of the remote host" : "");
}

static void hear_curl(capture *c)
{
    int left;
    CURLMsg *m;
    while ((m = curl_multi_info_read(c->multi, &left)))
        if (m->msg == CURLMSG_DONE && m->easy_handle == c->profile.easy) {
            c->finished = true;
            c->code = m->data.result;
        } else if (m->msg == CURLMSG_DONE) {
            end_terminate(c);
        }
    /* libcurl 7.88 does not always notice that a stream was closed while it sends the request. */
    if (!c->finished && c->profile.status != GRPC_NO_STATUS) {
        c->status_ms = c->status_ms ? c->status_ms : vp_now_ms();
        c->finished = vp_now_ms() - c->status_ms >= AFTER_STATUS_MS;
        c->code = CURLE_OK;
    }
}

static bool waits_for_leave(const capture *c)
{
    return c->request.waits && !c->may_come && c->answer.xspace_bytes && !c->finished;
}

/* Data that is not read stays at the server and in socket buffers. */
static int wait_for_leave(capture *c)
{
    struct pollfd asker = {.fd = c->ask->stream, .events = POLLIN};
    VP_TRY(tell_capture_progress(c, vp_now_ms()));
    if (poll(&asker, 1, PROGRESS_MS) > 0)
        hear_asker(c);
    c->last_bytes_ms = vp_now_ms(); /* the delay is not the server's */
    return 1;
}

/* One iteration of the loop; returns whether to continue. */
static int capture_turn(capture *c)
{
    struct curl_waitfd asker = {.fd = c->ask->stream, .events = CURL_WAIT_POLLIN};
    int running;
    if (waits_for_leave(c))
        return wait_for_leave(c);
    if (curl_multi_perform(c->multi, &running))
        return vp_fail(VP_EIO, "libcurl error: transfer failed");
    hear_curl(c);
    int64_t now = vp_now_ms();
    if (c->finished || (c->abandoned && (now - c->stop_ms > ABANDONED_MS)))
        return 0;
    if (c->in_vain)
        return vp_fail(VP_ECANCELLED, "canceled before the connection was established");
    if (c->stop_ms && !c->terminating && now >= c->next_stop_ms)
        VP_TRY(begin_terminate(c));
    VP_TRY(tell_capture_progress(c, now));
    VP_TRY(check_patience(c, now));
    if (curl_multi_poll(c->multi, &asker, c->abandoned ? 0 : 1, PROGRESS_MS, NULL))
        return vp_fail(VP_EIO, "libcurl error: poll failed");
    if (asker.revents)
        hear_asker(c);
    return 1;
}

static int64_t unix_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t delay_ms(const capture *c)
{
    int64_t start = (int64_t)(c->request.start_ns / 1000000), now = unix_ms();
    return start > now ? start - now : 0;
}

static int run_capture_loop(capture *c)
{
    int rc;
    c->multi = curl_multi_init();
    VP_NEED(c->multi);
    if (curl_multi_add_handle(c->multi, c->profile.easy))
        return vp_fail(VP_EIO, "libcurl error: cannot start the call");
    c->begun_ms = vp_now_ms();
    c->over_ms = c->begun_ms + delay_ms(c) + (int64_t)c->request.duration_ms;
    while ((rc = capture_turn(c)) == 1)
        ;
    VP_TRY(rc);
    if (!c->finished)
        return vp_fail(VP_ECANCELLED, "canceled by the client");
    c->ask->status = grpc_call_status(&c->profile, c->code);
    VP_TRY(grpc_call_verdict(&c->profile, c->code));
    VP_TRY(profile_answer_end(&c->answer));
    return flush_piece(c);
}

static int say_captured(capture *c)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, 64);
    vp_pb_put_u64(&b, FETCH_CAPTURED_BYTES, (uint64_t)c->answer.xspace_bytes);
    return b.status < 0 ? b.status : fetch_put(c->ask->stream, FETCH_INFO, vp_buf_view(&b));
}

static int open_profile(capture *c)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, REQUEST_MAX);
    VP_TRY(profile_request_put(&b, &c->request));
    int64_t timeout = delay_ms(c) + (int64_t)c->request.duration_ms +
                      (int64_t)c->request.patience_ms + SERVER_PATIENCE_MS;
    return grpc_call_open(&c->profile, c->ask->url, "Profile", vp_buf_view(&b), timeout,
                          take_profile_bytes, c);
}

/* Checks whether the port may use another protocol, for a call without any response. */
static bool is_unheard(const capture *c, int rc)
{
    return !c->profile.body_bytes && c->profile.status == GRPC_NO_STATUS && !c->abandoned &&
           (rc == VP_EUNSUPPORTED || (rc == VP_EREMOTE && c->ask->status == GRPC_DEADLINE));
}

int fetch_answer_capture(fetch_ask *a)
{
    capture c = {.ask = a};
    if (a->file_n != 1)
        return vp_fail(VP_EARG, "a capture request needs an output file");
    VP_TRY(profile_request_read(&c.request, a->body));
    profile_answer_init(&c.answer, write_xspace, &c);
    c.piece = vp_malloc(PIECE);
    int rc = c.piece ? open_profile(&c) : vp_no_memory();
    if (rc >= 0)
        rc = run_capture_loop(&c);
    if (rc >= 0)
        rc = say_captured(&c);
    end_terminate(&c);
    if (c.multi)
        (void)curl_multi_remove_handle(c.multi, c.profile.easy);
    grpc_call_close(&c.profile);
    (void)curl_multi_cleanup(c.multi);
    vp_free(c.piece);
    return rc < 0 && is_unheard(&c, rc) ? fetch_fail_unheard(a) : rc;
}
