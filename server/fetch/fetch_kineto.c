/* Handles FETCH_KINETO: profiles PyTorch processes through a dynolog daemon. A request is one line
 * of JSON after its length. libkineto then writes a file in each process on the remote machine. */
#include <errno.h>
#include <jansson.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/fetch/question/fetch_answer.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/pb.h"
#include "trace/base/time.h"

#define CONFIG_MAX (16u << 10)
#define ANSWER_MAX (1u << 20)
#define WAIT_MS 10000
/* Time limit for a daemon on the network to report its status. */
#define STATUS_MS 1000
#define PROCESSES_MAX 1024

/* ---- The request ----------------------------------------------------------------------------- */

static int put_config(vp_buf *b, vp_str body)
{
    vp_pb p = vp_pb_of(body);
    vp_pb_field f;
    uint64_t duration = 0, start = 0;
    vp_str log = VP_STR_NONE;
    while (vp_pb_next(&p, &f) == 1)
        switch (f.number) {
        case FETCH_KINETO_LOG:
            log = f.data;
            break;
        case FETCH_KINETO_DURATION_MS:
            duration = f.u;
            break;
        case FETCH_KINETO_START_MS:
            start = f.u;
            break;
        default:
            break;
        }
    if (!log.n || !duration)
        return vp_fail(VP_EARG, "invalid capture request");
    vp_buf_printf(b,
                  "ACTIVITIES_LOG_FILE=%.*s\nPROFILE_START_TIME=%llu\n"
                  "ACTIVITIES_DURATION_MSECS=%llu",
                  VP_STR_ARG(log), (unsigned long long)start, (unsigned long long)duration);
    for (p = vp_pb_of(body); vp_pb_next(&p, &f) == 1;)
        if (f.number == FETCH_KINETO_OPTION) {
            if (memchr(f.data.p, '\n', f.data.n) || !memchr(f.data.p, '=', f.data.n))
                return vp_fail(VP_EARG, "--option: \"%.*s\" is not KEY=VALUE",
                               VP_STR_CUT(f.data, 60));
            vp_buf_printf(b, "\n%.*s", VP_STR_ARG(f.data));
        }
    return b->status;
}

static int put_kineto_request(vp_buf *b, vp_str body)
{
    VP_CLEANUP(vp_buf_free) vp_buf config;
    vp_buf_init(&config, CONFIG_MAX);
    VP_TRY(put_config(&config, body));
    json_t *o =
        json_pack("{s:s, s:s%, s:i, s:[i], s:i}", "fn", "setKinetOnDemandRequest", "config",
                  config.p, config.n, "job_id", 0, "pids", 0, "process_limit", PROCESSES_MAX);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    json_decref(o);
    if (!text)
        return vp_fail(VP_EARG, "the name of the log file is not valid UTF-8");
    int32_t n = (int32_t)strlen(text);
    vp_buf_put(b, &n, sizeof n);
    vp_buf_puts(b, text);
    json_free_t release;
    json_get_alloc_funcs(NULL, &release);
    release(text);
    return b->status;
}

/* ---- The socket ------------------------------------------------------------------------------ */

/* Waits until the socket is readable or writable. */
static int wait_for_dynolog(int fd, short what)
{
    struct pollfd p = {.fd = fd, .events = what};
    int n;
    do
        n = poll(&p, 1, WAIT_MS);
    while (n < 0 && errno == EINTR);
    return n > 0 ? 0 : vp_fail(VP_EREMOTE, "timed out");
}

static int connect_one(const struct addrinfo *at, int *out)
{
    int err = 0;
    socklen_t n = sizeof err;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    if (connect(fd, at->ai_addr, at->ai_addrlen) < 0 && errno != EINPROGRESS)
        err = errno;
    else if (wait_for_dynolog(fd, POLLOUT) < 0)
        err = ETIMEDOUT;
    else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n) < 0)
        err = errno;
    if (err)
        close(fd);
    else
        *out = fd;
    return err;
}

static int connect_to_dynolog(vp_str target, int *out)
{
    char host[256], port[8];
    size_t colon = vp_str_rfind_char(target, ':');
    if (!colon || colon >= sizeof host || target.n - colon - 1 >= sizeof port)
        return vp_fail(VP_EARG, "\"%.*s\" is not HOST:PORT", VP_STR_CUT(target, 100));
    bool v6 = target.p[0] == '[' && target.p[colon - 1] == ']';
    snprintf(host, sizeof host, "%.*s", (int)(colon - 2 * v6), target.p + v6);
    snprintf(port, sizeof port, "%.*s", (int)(target.n - colon - 1), target.p + colon + 1);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *all;
    if (getaddrinfo(host, port, &hints, &all))
        return vp_fail(VP_ENOTFOUND, "host not found");
    int err = ECONNREFUSED;
    for (const struct addrinfo *at = all; at && err; at = at->ai_next)
        err = connect_one(at, out);
    freeaddrinfo(all);
    return err ? vp_fail(VP_ENOTFOUND, "cannot connect: %s; check that dynolog is running",
                         strerror(err))
               : 0;
}

static int send_to_dynolog(int fd, vp_str s)
{
    while (s.n) {
        ssize_t n = send(fd, s.p, s.n, MSG_NOSIGNAL);
        if (n > 0)
            s = vp_str_skip(s, (size_t)n);
        else if (errno == EAGAIN)
            VP_TRY(wait_for_dynolog(fd, POLLOUT));
        else if (errno != EINTR)
            return vp_fail(VP_EREMOTE, "connection lost: %s", strerror(errno));
    }
    return 0;
}

static int receive_exactly(int fd, char *p, size_t n)
{
    int64_t until = vp_now_ms() + WAIT_MS;
    while (n) {
        ssize_t got = recv(fd, p, n, 0);
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        } else if (got == 0) {
            return vp_fail(VP_EREMOTE, "the connection was closed without a response; check that "
                                       "this is the port of dynolog");
        } else if (errno == EAGAIN && vp_now_ms() < until) {
            VP_TRY(wait_for_dynolog(fd, POLLIN));
        } else if (errno != EINTR) {
            return vp_fail(VP_EREMOTE, "connection lost: %s", strerror(errno));
        }
    }
    return 0;
}

/* ---- The answer ------------------------------------------------------------------------------ */

static int put_pids(vp_buf *out, vp_str text)
{
    json_t *o = json_loadb(text.p, text.n, 0, NULL);
    const json_t *matched = json_object_get(o, "processesMatched");
    const json_t *busy = json_object_get(o, "activityProfilersBusy");
    const json_t *set = json_object_get(o, "activityProfilersTriggered");
    const json_t *pids = json_array_size(set) ? set : matched;
    int rc = 0;
    if (!json_is_array(matched))
        rc = vp_fail(VP_EUNSUPPORTED, "the server is not dynolog");
    else if (!json_array_size(matched))
        rc =
            vp_fail(VP_EEMPTY,
                    "no process can be profiled there; start the program with KINETO_USE_DAEMON=1");
    else if (!json_array_size(set) && json_is_integer(busy) && json_integer_value(busy) > 0)
        rc = vp_fail(VP_EBUSY, "busy with another capture");
    for (size_t i = 0; rc == 0 && i < json_array_size(pids) && i < PROCESSES_MAX; i++) {
        json_int_t pid = json_integer_value(json_array_get(pids, i));
        if (pid > 0)
            vp_pb_put_u64(out, FETCH_KINETO_PID, (uint64_t)pid);
    }
    json_decref(o);
    return rc < 0 ? rc : out->status;
}

static int take_dynolog_answer(int fd, vp_buf *answer)
{
    int32_t n;
    VP_TRY(receive_exactly(fd, (char *)&n, sizeof n));
    if (n <= 0 || n > (int32_t)ANSWER_MAX)
        return vp_fail(VP_EUNSUPPORTED, "the server is not dynolog");
    char *p = vp_buf_reserve(answer, (size_t)n + 1);
    VP_NEED(p);
    VP_TRY(receive_exactly(fd, p, (size_t)n));
    answer->n += (size_t)n;
    return 0;
}

static bool is_dynolog(vp_str target)
{
    static const char text[] = "{\"fn\":\"getStatus\"}";
    VP_CLEANUP(vp_buf_free) vp_buf request, answer;
    VP_CLEANUP(vp_fs_close) int fd = -1;
    int32_t n = (int32_t)sizeof text - 1;
    vp_buf_init(&request, 64);
    vp_buf_init(&answer, ANSWER_MAX + 2);
    vp_buf_put(&request, &n, sizeof n);
    vp_buf_puts(&request, text);
    if (request.status < 0 || connect_to_dynolog(target, &fd) < 0 ||
        send_to_dynolog(fd, vp_buf_view(&request)) < 0)
        return false;
    struct pollfd said = {.fd = fd, .events = POLLIN};
    if (poll(&said, 1, STATUS_MS) <= 0 || take_dynolog_answer(fd, &answer) < 0)
        return false;
    json_t *o = json_loadb(answer.p, answer.n, 0, NULL);
    bool is_there = json_object_get(o, "status") != NULL;
    json_decref(o);
    return is_there;
}

int fetch_fail_unheard(fetch_ask *a)
{
    vp_error why = *vp_error_last();
    if (!is_dynolog(a->url))
        return vp_fail_copy(&why);
    a->status = 0;
    return vp_fail(VP_EUNSUPPORTED, "dynolog answers; capture PyTorch with --kineto");
}

int fetch_answer_kineto(fetch_ask *a)
{
    VP_CLEANUP(vp_buf_free) vp_buf request, answer, out;
    VP_CLEANUP(vp_fs_close) int fd = -1;
    vp_buf_init(&request, 2 * CONFIG_MAX);
    vp_buf_init(&answer, ANSWER_MAX + 2);
    vp_buf_init(&out, FETCH_ASK_MAX);
    VP_TRY(put_kineto_request(&request, a->body));
    VP_TRY(connect_to_dynolog(a->url, &fd));
    VP_TRY(send_to_dynolog(fd, vp_buf_view(&request)));
    VP_TRY(take_dynolog_answer(fd, &answer));
    VP_TRY(put_pids(&out, vp_buf_view(&answer)));
    return fetch_put(a->stream, FETCH_INFO, vp_buf_view(&out));
}
