#include "server/local/loopback_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"
#include "trace/read/gzip/gzip.h"

/* ---- Decoding ------------------------------------------------------------------------------ */

typedef struct head {
    int status;
    bool gzip, chunked;
    size_t length; /* SIZE_MAX if not given: up to the end of the connection */
} head;

static int take_status_line(vp_str *in, int *status)
{
    vp_str line;
    uint64_t code;
    if (!vp_take_until(in, '\n', 1024, &line) || !vp_str_starts(line, VP_STR("HTTP/1.")))
        return vp_fail(VP_EREMOTE, "the response is not HTTP");
    line = vp_str_skip(line, sizeof "HTTP/1.1 " - 1);
    if (!vp_take_uint(&line, 999, &code))
        return vp_fail(VP_EREMOTE, "the response has no HTTP status");
    *status = (int)code;
    return 0;
}

static int take_answer_field(head *h, vp_str line)
{
    vp_str name;
    if (!vp_take_until(&line, ':', 256, &name))
        return vp_fail(VP_ECORRUPT, "malformed header in the response");
    vp_str value = vp_str_trim(line);
    if (vp_str_eq_nocase(name, VP_STR("content-encoding"))) {
        h->gzip = vp_str_eq_nocase(value, VP_STR("gzip"));
        if (!h->gzip && !vp_str_eq_nocase(value, VP_STR("identity")))
            return vp_fail(VP_EUNSUPPORTED, "unsupported content coding in the response");
    } else if (vp_str_eq_nocase(name, VP_STR("transfer-encoding"))) {
        h->chunked = vp_str_eq_nocase(value, VP_STR("chunked"));
    } else if (vp_str_eq_nocase(name, VP_STR("content-length"))) {
        uint64_t n;
        if (!vp_take_uint(&value, VP_LOCAL_ANSWER_MAX, &n) || value.n)
            return vp_fail(VP_ELIMIT, "malformed or too large Content-Length in the response");
        h->length = (size_t)n;
    }
    return 0;
}

static int take_answer_head(vp_str *in, head *h)
{
    *h = (head){.length = SIZE_MAX};
    VP_TRY(take_status_line(in, &h->status));
    for (;;) {
        vp_str line;
        if (!in->n || !vp_take_until(in, '\n', 64u << 10, &line))
            return vp_fail(VP_ECORRUPT, "the response ends inside its headers");
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        if (!line.n)
            return 0;
        VP_TRY(take_answer_field(h, line));
    }
}

static bool take_chunk_length(vp_str *in, size_t *out)
{
    size_t v = 0, digits = 0;
    for (; digits < in->n; digits++) {
        char c = in->p[digits];
        int d = c >= '0' && c <= '9'                 ? c - '0'
                : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                     : -1;
        if (d < 0)
            break;
        if (v > VP_LOCAL_ANSWER_MAX)
            return false;
        v = v * 16 + (size_t)d;
    }
    *in = vp_str_skip(*in, digits);
    *out = v;
    return digits > 0;
}

static int decode_chunked_body(vp_buf *plain, vp_str in)
{
    for (;;) {
        size_t n;
        vp_str rest;
        if (!take_chunk_length(&in, &n) || !vp_take_until(&in, '\n', 256, &rest))
            return vp_fail(VP_ECORRUPT, "malformed chunk length in the response");
        if (n > in.n)
            return vp_fail(VP_ECORRUPT, "the response ends inside a chunk");
        if (!n)
            return 0;
        VP_TRY(vp_buf_put(plain, in.p, n));
        in = vp_str_skip(in, n);
        if (!vp_take_until(&in, '\n', 2, &rest))
            return vp_fail(VP_ECORRUPT, "malformed chunk end in the response");
    }
}

static int gunzip_body(vp_buf *body, vp_str packed)
{
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    VP_CLEANUP(vp_free_ptr) char *plain = NULL;
    size_t n;
    rd_stream *raw;
    VP_TRY(rd_stream_memory(&raw, packed.p, packed.n, 0));
    VP_TRY(gz_stream(&s, raw, false));
    VP_TRY(rd_stream_slurp(s, VP_LOCAL_ANSWER_MAX, &plain, &n));
    if (s->damage.code)
        return vp_fail_copy(&s->damage);
    return vp_buf_put(body, plain, n);
}

int lb_decode(vp_buf *body, int *status, vp_str answer)
{
    head h;
    VP_TRY(take_answer_head(&answer, &h));
    VP_CLEANUP(vp_buf_free) vp_buf plain;
    vp_buf_init(&plain, VP_LOCAL_ANSWER_MAX);
    if (h.chunked) {
        VP_TRY(decode_chunked_body(&plain, answer));
        answer = vp_buf_view(&plain);
    } else if (h.length != SIZE_MAX) {
        if (answer.n < h.length)
            return vp_fail(VP_ECORRUPT, "the response is truncated");
        answer = vp_str_head(answer, h.length);
    }
    VP_TRY(h.gzip && answer.n ? gunzip_body(body, answer) : vp_buf_str(body, answer));
    *status = h.status;
    return 0;
}

/* ---- The connection ------------------------------------------------------------------------- */

static struct sockaddr_in loopback_address(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int wait_for_loopback(int fd, short what, int64_t deadline)
{
    for (;;) {
        int64_t left = deadline - vp_now_ms();
        if (left <= 0)
            return vp_fail(VP_EREMOTE, "timed out");
        struct pollfd p = {.fd = fd, .events = what};
        int rc = poll(&p, 1, (int)left);
        if (rc > 0)
            return 0;
        if (rc < 0 && errno != EINTR)
            return vp_fail(VP_EIO, "poll failed: %s", strerror(errno));
    }
}

static int connect_to_loopback(int *fd, int port, int64_t deadline)
{
    struct sockaddr_in a = loopback_address(port);
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return vp_fail(VP_EIO, "cannot create a socket: %s", strerror(errno));
    if (connect(*fd, (struct sockaddr *)&a, sizeof a) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return vp_fail(VP_EREMOTE, "no server on port %d", port);
    VP_TRY(wait_for_loopback(*fd, POLLOUT, deadline));
    int err = 0;
    socklen_t n = sizeof err;
    if (getsockopt(*fd, SOL_SOCKET, SO_ERROR, &err, &n) != 0 || err)
        return vp_fail(VP_EREMOTE, "no server on port %d", port);
    return 0;
}

static int send_to_loopback(int fd, vp_str out, int64_t deadline)
{
    while (out.n) {
        ssize_t n = send(fd, out.p, out.n, MSG_NOSIGNAL);
        if (n > 0)
            out = vp_str_skip(out, (size_t)n);
        else if (n < 0 && (errno == EAGAIN || errno == EINTR))
            VP_TRY(wait_for_loopback(fd, POLLOUT, deadline));
        else
            return vp_fail(VP_EREMOTE, "connection lost while sending the request");
    }
    return 0;
}

static int receive_all(vp_buf *in, int fd, int64_t deadline)
{
    char piece[16 << 10];
    for (;;) {
        VP_TRY(wait_for_loopback(fd, POLLIN, deadline));
        ssize_t n = recv(fd, piece, sizeof piece, 0);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return vp_fail(VP_EREMOTE, "connection lost while receiving the response");
        if (n > 0)
            VP_TRY(vp_buf_put(in, piece, (size_t)n));
    }
}

int lb_get(vp_buf *body, int *status, int port, const char *path, int timeout_ms)
{
    if (port < 1 || port > 65535)
        return vp_fail(VP_EARG, "invalid port %d", port);
    int64_t deadline = vp_now_ms() + timeout_ms;
    VP_CLEANUP(vp_fs_close) int fd = -1;
    VP_CLEANUP(vp_buf_free) vp_buf ask, answer;
    vp_buf_init(&ask, VP_HTTP_TARGET_MAX);
    vp_buf_init(&answer, VP_LOCAL_ANSWER_MAX);
    VP_TRY(connect_to_loopback(&fd, port, deadline));
    VP_TRY(vp_buf_printf(&ask,
                         "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: */*\r\n"
                         "Accept-Encoding: identity\r\nConnection: close\r\n\r\n",
                         path, port));
    VP_TRY(send_to_loopback(fd, vp_buf_view(&ask), deadline));
    VP_TRY(receive_all(&answer, fd, deadline));
    return lb_decode(body, status, vp_buf_view(&answer));
}

bool lb_port_is_free(int port)
{
    struct sockaddr_in a = loopback_address(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    bool free_now = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                    bind(fd, (struct sockaddr *)&a, sizeof a) == 0;
    vp_fs_close(&fd);
    return free_now;
}
