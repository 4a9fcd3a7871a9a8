#include "server/net/answer/refusals.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

#include "server/net/answer/response.h"
#include "server/net/connection/conn.h"
#include "server/net/request/request.h"
#include "trace/base/mem.h"

#define ANSWER_MAX 4096
/* Bytes behind the head that are read and dropped: a socket that is closed with unread bytes is
 * reset, and the client loses the answer. */
#define UNREAD_MAX (64u << 10)

/* The refusal that the calling thread's loop is about to send. Behind a key, as the room of
 * thread-local variables is scarce in processes that load the library
 * (tests/cli/test_thread_local.py). */
typedef struct refusal {
    const struct MHD_Response *response;
    vp_str page;
} refusal;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t of_thread;
static bool has_key;

static void make_key(void)
{
    has_key = pthread_key_create(&of_thread, vp_free) == 0;
}

/* NULL: none was made, or there is no memory for it. */
static refusal *refusal_of_thread(bool make)
{
    pthread_once(&once, make_key);
    refusal *r = has_key ? pthread_getspecific(of_thread) : NULL;
    if (r || !make || !has_key)
        return r;
    r = vp_calloc(1, sizeof *r);
    if (r && pthread_setspecific(of_thread, r) == 0)
        return r;
    vp_free(r);
    return NULL;
}

struct MHD_Response *http_refusal_page(size_t size, void *buffer, enum MHD_ResponseMemoryMode mode)
{
    /* The pages are constants of the library: it never asks for a copy. */
    struct MHD_Response *r =
        mode == MHD_RESPMEM_PERSISTENT ? http_constant_response(buffer, size) : NULL;
    http_add(&r, "Content-Type", "text/html; charset=utf-8");
    http_add(&r, "Cache-Control", "no-store");
    http_add(&r, "Cross-Origin-Resource-Policy", "same-origin");
    http_add_policy(&r, NULL); /* nothing in it runs */
    refusal *mine = refusal_of_thread(true);
    if (mine)
        *mine = (refusal){r, {buffer, size}};
    return r;
}

static enum MHD_Result put_field(void *b, enum MHD_ValueKind kind, const char *key,
                                 const char *value)
{
    (void)kind;
    return vp_buf_printf(b, "%s: %s\r\n", key, value) < 0 ? MHD_NO : MHD_YES;
}

static void send_refusal(int fd, unsigned status, struct MHD_Response *r, vp_str page)
{
    char unread[4096];
    vp_buf b;
    vp_buf_init(&b, ANSWER_MAX);
    vp_buf_printf(&b, "HTTP/1.1 %u %s\r\nConnection: close\r\nContent-Length: %zu\r\n", status,
                  MHD_get_reason_phrase_for(status), page.n);
    MHD_get_response_headers(r, put_field, &b);
    vp_buf_puts(&b, "\r\n");
    vp_buf_str(&b, page);
    vp_str all = vp_buf_view(&b);
    if (!b.status && send(fd, all.p, all.n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        b.n = 0; /* gone already */
    vp_buf_free(&b);
    shutdown(fd, SHUT_WR);
    for (size_t n = 0; n < UNREAD_MAX; n += sizeof unread)
        if (recv(fd, unread, sizeof unread, MSG_DONTWAIT) <= 0)
            break;
}

/* Whether libmicrohttpd would send this refusal with two header blocks: the head is whole, and our
 * callback was never asked about the request. */
static bool is_sent_twice(struct MHD_Connection *conn, const http_conn *c)
{
    const union MHD_ConnectionInfo *head =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return c && c->rq && c->rq->phase == HTTP_NEW && head && head->header_size;
}

enum MHD_Result http_refusal_queue(struct MHD_Connection *conn, unsigned status,
                                   struct MHD_Response *r)
{
    refusal *mine = refusal_of_thread(false);
    if (!mine || r != mine->response || !r)
        return MHD_queue_response(conn, status, r);
    mine->response = NULL;
    http_conn *c = http_conn_of(conn);
    if (c && c->rq)
        c->rq->status = status;
    if (!is_sent_twice(conn, c))
        return MHD_queue_response(conn, status, r);
    send_refusal(c->fd, status, r, mine->page);
    return MHD_queue_response(conn, status, r);
}
