#include "trace/source/fetch_frames.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "trace/base/err.h"
#include "trace/base/pb.h"

/* ---- Writing --------------------------------------------------------------------------------- */

/* Sends all bytes of the pieces, without raising SIGPIPE in the library's user. */
static int send_all_pieces(int fd, struct iovec *v, size_t count)
{
    struct msghdr m = {.msg_iov = v, .msg_iovlen = count};
    while (m.msg_iovlen) {
        ssize_t n = sendmsg(fd, &m, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EPIPE || errno == ECONNRESET
                       ? vp_fail(VP_ECANCELLED, "canceled by the client")
                       : vp_fail(VP_EIO, "cannot write to the socket: %s", strerror(errno));
        size_t left = (size_t)n;
        while (m.msg_iovlen && left >= m.msg_iov->iov_len) {
            left -= m.msg_iov->iov_len;
            m.msg_iov++;
            m.msg_iovlen--;
        }
        if (m.msg_iovlen) {
            m.msg_iov->iov_base = (char *)m.msg_iov->iov_base + left;
            m.msg_iov->iov_len -= left;
        }
    }
    return 0;
}

int fetch_put(int stream, fetch_frame kind, vp_str payload)
{
    if (payload.n > FETCH_FRAME_MAX)
        return vp_fail(VP_ELIMIT, "frame too large: %zu bytes", payload.n);
    uint32_t head[2] = {(uint32_t)kind, (uint32_t)payload.n};
    struct iovec v[2] = {{head, sizeof head}, {(void *)(uintptr_t)payload.p, payload.n}};
    return send_all_pieces(stream, v, payload.n ? 2 : 1);
}

int fetch_put_failure(int stream, int code, int64_t status)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, FETCH_ASK_MAX);
    vp_pb_put_u64(&b, FETCH_FAILURE_CODE, (uint64_t)-code);
    vp_pb_put_len(&b, FETCH_FAILURE_MESSAGE, vp_str_of(vp_error_last()->message));
    if (status > 0)
        vp_pb_put_u64(&b, FETCH_FAILURE_STATUS, (uint64_t)status);
    return b.status < 0 ? b.status : fetch_put(stream, FETCH_FAILED, vp_buf_view(&b));
}

/* ---- Reading --------------------------------------------------------------------------------- */

int fetch_take(int stream, void *p, size_t n)
{
    char *at = p;
    while (n) {
        ssize_t got = recv(stream, at, n, MSG_WAITALL);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return vp_fail(VP_EREMOTE, "view_profile-fetch exited without an answer%s%s",
                           got < 0 ? ": " : "", got < 0 ? strerror(errno) : "");
        at += got;
        n -= (size_t)got;
    }
    return 0;
}

int fetch_head(int stream, fetch_frame *kind, size_t *n)
{
    uint32_t head[2];
    VP_TRY(fetch_take(stream, head, sizeof head));
    if (head[1] > FETCH_FRAME_MAX)
        return vp_fail(VP_ECORRUPT, "frame too large: %u bytes", head[1]);
    *kind = (fetch_frame)head[0];
    *n = head[1];
    return 0;
}

int fetch_failure(vp_str payload)
{
    vp_pb r = vp_pb_of(payload);
    vp_pb_field f;
    vp_str message = VP_STR("fetch failed");
    int code = VP_EREMOTE;
    while (vp_pb_next(&r, &f) == 1)
        if (f.number == FETCH_FAILURE_CODE && f.u >= 1 && f.u <= (uint64_t)-VP_EVERSION)
            code = -(int)f.u;
        else if (f.number == FETCH_FAILURE_MESSAGE)
            message = f.data;
    return vp_fail(code, "%.*s", (int)vp_str_head(message, 300).n, message.p);
}

int fetch_next(int stream, fetch_frame *kind, vp_buf *payload)
{
    size_t n = 0;
    VP_TRY(fetch_head(stream, kind, &n));
    char *p = vp_buf_reserve(payload, n + 1);
    VP_NEED(p);
    VP_TRY(fetch_take(stream, p, n));
    payload->n += n;
    return *kind == FETCH_FAILED ? fetch_failure(vp_buf_view(payload)) : 0;
}
