#include "server/net/answer/large.h"

#include <errno.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "server/net/answer/response.h"
#include "server/net/request/request.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"

/* libmicrohttpd sends a file in pieces of 128 KiB and checks all connections after each piece,
 * which takes a third more CPU time than nginx. A large file is therefore a callback response with
 * an added Content-Length. The callback runs whenever the socket is writable. It sends most bytes
 * directly from the file to the socket and returns a few, for which libmicrohttpd waits for the
 * socket again. */
#define TURN (8 << 20) /* maximum bytes before another connection is served */
#define RETURNED 4096u /* bytes that libmicrohttpd sends */

typedef struct large {
    int file, socket;
    off_t at, end;
    vp_file_id listed; /* its identity when the head was sent */
} large;

/* Sends until the socket is full, so that the bytes returned afterwards have to wait, and the
 * callback is called when it can send again. false if the file was truncated or the client has
 * disconnected. */
static bool send_most(large *l)
{
    int64_t most = l->end - l->at - RETURNED, left = most < TURN ? most : TURN;
    while (left > 0) {
        ssize_t sent = sendfile(l->socket, l->file, &l->at, (size_t)left);
        if (sent <= 0)
            return sent < 0 && (errno == EAGAIN || errno == EINTR);
        left -= sent;
    }
    return true;
}

/* Aborts a response: shuts the socket down and returns one byte that is never sent. libmicrohttpd
 * notices when it sends that byte. If the callback returned an error instead, it would keep the
 * descriptor until the idle timeout, because a dead socket has no events. */
static ssize_t cut_large_answer(const large *l, char *buf)
{
    shutdown(l->socket, SHUT_RDWR);
    buf[0] = 0;
    return 1;
}

/* If a file was overwritten while it was sent, the response can be a mixture of both versions, so
 * its end must not be sent. A file that has grown was appended to, as recorders do; its beginning
 * is unchanged. */
static bool has_changed(const large *l)
{
    vp_file_id id;
    return vp_fs_identity(l->file, &id) < 0 ||
           (id.mtime_ns != l->listed.mtime_ns && id.size <= l->listed.size);
}

static ssize_t read_large_piece(void *cls, uint64_t pos, char *buf, size_t max)
{
    large *l = cls;
    size_t got, n = (size_t)(l->end - l->at < RETURNED ? l->end - l->at : RETURNED);
    (void)pos;
    if (l->at == l->end)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!send_most(l) || vp_fs_pread(l->file, buf, n < max ? n : max, l->at, &got) < 0 || !got)
        return cut_large_answer(l, buf);
    l->at += (int64_t)got;
    if (l->at == l->end && has_changed(l))
        return cut_large_answer(l, buf);
    return (ssize_t)got;
}

static void end_large(void *cls)
{
    large *l = cls;
    vp_fs_close(&l->file);
    vp_free(l);
}

struct MHD_Response *http_large_response(http_req *rq, int *fd, int64_t first, int64_t end)
{
    char length[24];
    vp_file_id id;
    large *l = vp_fs_identity(*fd, &id) == 0 ? vp_calloc(1, sizeof *l) : NULL;
    if (!l)
        return NULL;
    *l = (large){vp_fs_take(fd), rq->fd, first, end, id};
    struct MHD_Response *r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, RETURNED,
                                                               read_large_piece, l, end_large);
    if (!r) {
        end_large(l);
        return NULL;
    }
    MHD_set_response_options(
        r, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT | MHD_RF_INSANITY_HEADER_CONTENT_LENGTH, MHD_RO_END);
    snprintf(length, sizeof length, "%lld", (long long)(end - first));
    http_add(&r, "Content-Length", length);
    return r;
}
