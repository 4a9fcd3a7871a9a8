#include "server/net/answer/stream_answer.h"

#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "server/net/answer/cache.h"
#include "server/net/answer/encode.h"
#include "server/net/answer/file_answer.h"
#include "server/net/answer/reply.h"
#include "server/net/answer/response.h"
#include "server/net/connection/conn.h"
#include "server/net/request/request.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"

/* A thread puts bytes into a ring, and the event loop takes them out. An empty ring suspends the
 * connection, a full one blocks the thread:
 *
 *    source → [thread] → ring (512 KiB) → [event loop] → socket
 *
 * A flow has two holders, the response and the thread, and the last of them frees it: the response
 * lets go when it was sent or the client left, the thread at the source's end. Locks are taken in
 * the order http_flows.lock, http_flow.lock, libmicrohttpd's. Whoever has to resume the connection
 * does so before letting go of the flow. */
#define RING (512u << 10)
/* A suspended connection is resumed when the ring contains this many bytes, because a resume wakes
 * the loop. The first bytes are sent immediately, so that the client sees progress. */
#define WAKE_AT (64u << 10)
/* Maximum number of streams. */
#define FLOWS_MAX 32
/* Maximum number of streams for one remote machine. */
#define FLOWS_OF_PEER_MAX 24
/* A stream whose client has read nothing for this time can be cut off for a new one. */
#define STALLED_MS 3000

typedef struct http_flow http_flow;

struct http_flows {
    pthread_mutex_t lock;
    pthread_cond_t gone;
    http_flow *first;
    int count; /* number of flows that are not freed, in the list or not */
};

/* A stream that is being sent. */
struct http_flow {
    http_flows *all;
    http_flow *next, **link;
    http_conn *connection;
    http_req *rq; /* only while libmicrohttpd reads the response */
    http_source src;
    pthread_mutex_t lock;
    pthread_cond_t space;
    size_t head, fill; /* of the ring */
    bool started, ended, failed, aborted;
    int fd;                /* socket of the connection; -1: ended */
    uint64_t peer;         /* a hash of the client's address */
    _Atomic int64_t taken; /* time of the client's last read, by the coarse clock */
    bool begun;            /* the first bytes were read */
    bool suspended;        /* the thread that clears it must resume the connection */
    int holders;
    bool evicted; /* guarded by all->lock */
    char ring[RING];
};

static void leave_list(http_flow *f)
{
    pthread_mutex_lock(&f->all->lock);
    *f->link = f->next;
    if (f->next)
        f->next->link = f->link;
    pthread_mutex_unlock(&f->all->lock);
}

static void let_go(http_flow *f)
{
    http_flows *all = f->all;
    pthread_mutex_lock(&f->lock);
    bool last = --f->holders == 0;
    pthread_mutex_unlock(&f->lock);
    if (!last)
        return;
    leave_list(f);
    if (!f->started)
        f->src.close(f->src.ctx);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->space);
    vp_free(f);
    pthread_mutex_lock(&all->lock);
    all->count--;
    pthread_cond_broadcast(&all->gone);
    pthread_mutex_unlock(&all->lock);
}

/* ---- The thread's side ---------------------------------------------------------------------- */

/* Called with the lock held. Copies as much as fits and returns its size. */
static size_t flow_put(http_flow *f, const char *p, size_t n)
{
    size_t room = RING - f->fill, at = (f->head + f->fill) % RING;
    n = n < room ? n : room;
    size_t first = n < RING - at ? n : RING - at;
    memcpy(f->ring + at, p, first);
    memcpy(f->ring, p + first, n - first);
    f->fill += n;
    return n;
}

/* Called with the lock held. True if the connection has to be resumed; the caller must then do so.
 */
static bool may_resume(http_flow *f)
{
    size_t least = f->begun ? WAKE_AT : 1;
    bool yes = f->suspended && (f->fill >= least || f->ended || f->failed || f->aborted);
    if (yes)
        f->suspended = false;
    return yes;
}

/* false if the client has disconnected. */
static bool flow_deliver(http_flow *f, const char *p, size_t n)
{
    bool go_on = true;
    while (n && go_on) {
        pthread_mutex_lock(&f->lock);
        while (f->fill == RING && !f->aborted)
            pthread_cond_wait(&f->space, &f->lock);
        size_t took = f->aborted ? 0 : flow_put(f, p, n);
        go_on = !f->aborted;
        if (may_resume(f))
            http_resume(f->connection);
        pthread_mutex_unlock(&f->lock);
        p += took;
        n -= took;
    }
    return go_on;
}

static void *flow_producer_thread(void *arg)
{
    http_flow *f = arg;
    char *p;
    size_t n;
    int rc;
    while ((rc = f->src.next(f->src.ctx, &p, &n)) > 0)
        if (!flow_deliver(f, p, n))
            break;
    f->src.close(f->src.ctx);
    pthread_mutex_lock(&f->lock);
    f->ended = rc == 0;
    f->failed = rc != 0;
    if (may_resume(f))
        http_resume(f->connection);
    pthread_mutex_unlock(&f->lock);
    let_go(f);
    return NULL;
}

/* True if the client has disconnected. Thread-safe. */
static bool is_flow_abandoned(const void *of)
{
    http_flow *f = (http_flow *)of;
    pthread_mutex_lock(&f->lock);
    bool left = f->aborted;
    pthread_mutex_unlock(&f->lock);
    return left;
}

/* ---- The loop's side ---------------------------------------------------------------------- */

static bool flow_start_thread(http_flow *f)
{
    pthread_t thread;
    f->holders++;
    f->started = !pthread_create(&thread, NULL, flow_producer_thread, f);
    if (!f->started) {
        f->holders--;
        return false;
    }
    pthread_detach(thread);
    return true;
}

static size_t flow_take(http_flow *f, char *buf, size_t max)
{
    size_t n = f->fill < max ? f->fill : max;
    size_t first = n < RING - f->head ? n : RING - f->head;
    memcpy(buf, f->ring + f->head, first);
    memcpy(buf + first, f->ring, n - first);
    f->head = (f->head + n) % RING;
    f->fill -= n;
    return n;
}

/* Aborts a response whose source failed. With an error alone, libmicrohttpd would close the
 * connection only after the idle timeout, and the client would wait. The shutdown notifies both
 * immediately. */
static ssize_t end_broken(const http_flow *f)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(f->connection->conn, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info)
        (void)shutdown(info->connect_fd, SHUT_RDWR);
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

/* The thread starts at the first read: a HEAD request never reads. */
static ssize_t read_flow(void *cls, uint64_t pos, char *buf, size_t max)
{
    http_flow *f = cls;
    ssize_t result = 0;
    (void)pos;
    pthread_mutex_lock(&f->lock);
    if (f->aborted || (!f->started && !flow_start_thread(f))) {
        result = end_broken(f);
    } else if (f->fill) {
        result = (ssize_t)flow_take(f, buf, max);
        f->begun = true;
        atomic_store(&f->taken, vp_now_coarse_ms());
        f->rq->body_bytes += (size_t)result;
        pthread_cond_signal(&f->space);
    } else if (f->ended) {
        result = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (f->failed) {
        result = end_broken(f);
    } else {
        f->suspended = true;
        MHD_suspend_connection(f->connection->conn);
    }
    pthread_mutex_unlock(&f->lock);
    return result;
}

static void abort_flow(http_flow *f)
{
    pthread_mutex_lock(&f->lock);
    f->aborted = true;
    pthread_cond_signal(&f->space);
    if (may_resume(f))
        http_resume(f->connection);
    pthread_mutex_unlock(&f->lock);
}

static void drop_flow(void *cls)
{
    http_flow *f = cls;
    pthread_mutex_lock(&f->lock);
    f->fd = -1;
    pthread_mutex_unlock(&f->lock);
    abort_flow(cls);
    let_go(cls);
}

int http_flows_new(http_flows **out)
{
    http_flows *all = vp_calloc(1, sizeof *all);
    VP_NEED(all);
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->gone, NULL);
    *out = all;
    return 0;
}

void http_flows_abort(http_flows *all)
{
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    for (http_flow *f = all->first; f; f = f->next)
        abort_flow(f);
    pthread_mutex_unlock(&all->lock);
}

void http_flows_free(http_flows *all)
{
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    while (all->count)
        pthread_cond_wait(&all->gone, &all->lock);
    pthread_mutex_unlock(&all->lock);
    pthread_mutex_destroy(&all->lock);
    pthread_cond_destroy(&all->gone);
    vp_free(all);
}

static uint64_t peer_of(struct MHD_Connection *conn)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *a = info ? info->client_addr : NULL;
    if (a && a->sa_family == AF_INET)
        return vp_hash(&((const struct sockaddr_in *)(const void *)a)->sin_addr, 4, 4);
    if (a &&
        a->sa_family ==
            AF_INET6) /* by its /64 network: one client can have all of its addresses (RFC 6177) */
        return vp_hash(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, 8, 6);
    return 0;
}

/* Called with the lock of the list held. Cuts off the stream whose client has read nothing for the
 * longest time. false: none has been idle long enough. */
static bool cut_stalled_stream(http_flows *all)
{
    int64_t since = vp_now_coarse_ms() - STALLED_MS;
    http_flow *longest = NULL;
    for (http_flow *f = all->first; f; f = f->next)
        if (!f->evicted && atomic_load(&f->taken) <= since) {
            since = atomic_load(&f->taken);
            longest = f;
        }
    if (!longest)
        return false;
    longest->evicted = true;
    pthread_mutex_lock(&longest->lock);
    if (longest->fd >= 0)
        shutdown(longest->fd, SHUT_RDWR);
    pthread_mutex_unlock(&longest->lock);
    abort_flow(longest);
    return true;
}

/* Called with the lock of the list held. off_loopback: clients can be on several machines. */
static bool has_room(http_flows *all, uint64_t peer, bool off_loopback)
{
    int of_peer = 0;
    for (const http_flow *f = all->first; f; f = f->next)
        of_peer += f->peer == peer && !f->evicted;
    if (off_loopback && of_peer >= FLOWS_OF_PEER_MAX)
        return false;
    return all->count < FLOWS_MAX || (all->count < 2 * FLOWS_MAX && cut_stalled_stream(all));
}

/* Called with the list's lock. */
static void join_list(http_flow *f, http_flows *all)
{
    f->all = all;
    f->next = all->first;
    f->link = &all->first;
    if (f->next)
        f->next->link = &f->next;
    all->first = f;
    all->count++;
}

/* NULL if there are too many, or out of memory. */
static http_flow *new_flow(http_req *rq, http_source src)
{
    const http_serving *s = rq->serving;
    http_flows *all = s->flows;
    http_flow *f = NULL;
    uint64_t peer = peer_of(rq->conn);
    pthread_mutex_lock(&all->lock);
    if (has_room(all, peer, s->policy.bound) && !atomic_load(&s->stopping) &&
        (f = vp_calloc(1, sizeof *f)) != NULL) {
        f->connection = rq->connection;
        f->rq = rq;
        f->src = src;
        f->holders = 1;
        f->fd = rq->fd;
        f->peer = peer;
        atomic_store(&f->taken, vp_now_coarse_ms());
        pthread_mutex_init(&f->lock, NULL);
        pthread_cond_init(&f->space, NULL);
        join_list(f, all);
    }
    pthread_mutex_unlock(&all->lock);
    return f;
}

int http_stream(http_req *rq, http_source src, bool gzip, const http_entity *e)
{
    const http_source made = src; /* sources that wrap it do not know the client */
    if (http_not_modified(rq, e)) {
        src.close(src.ctx);
        return 0;
    }
    if (gzip)
        VP_TRY(http_gzip_source(&src, src));
    if (e->etag[0])
        VP_TRY(http_cache_fill(&src, src, rq->serving->cache, e->etag));
    rq->keep_ms = 0;
    http_flow *f = new_flow(rq, src);
    if (!f) {
        src.close(src.ctx);
        return http_fail(rq, 503, "too many traces are being sent; try again");
    }
    if (made.client)
        made.client(made.ctx, is_flow_abandoned, f);
    struct MHD_Response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, WAKE_AT, read_flow, f, drop_flow);
    if (!r)
        drop_flow(f);
    /* libmicrohttpd ends even the empty body of a HEAD response with a last chunk, which the client
     * would parse as the next response. As HTTP/1.0 there are no chunks, and the connection is
     * closed. */
    else if (vp_str_eq(rq->head.method, VP_STR("HEAD")))
        MHD_set_response_options(r, MHD_RF_HTTP_VERSION_1_0_ONLY, MHD_RO_END);
    if (e->filename)
        http_add_disposition(&r, e->filename);
    return http_prepare(rq, 200, r, e->type, e);
}
