#include "server/net/answer/memo.h"

#include <pthread.h>

#include "server/net/answer/entity.h"
#include "server/net/request/request.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"

#define SLOTS 256u
/* A key is in the slot of its hash or in one of this many following slots. */
#define PROBES 8u

typedef struct slot {
    struct MHD_Response *response; /* NULL: free */
    char *target;
    uint64_t hash;
    http_coding coding;
    size_t bytes;
    int64_t until_ms;
} slot;

struct http_memo {
    pthread_mutex_t lock;
    size_t bytes;
    slot slots[SLOTS];
};

int http_memo_new(http_memo **out)
{
    http_memo *m = vp_calloc(1, sizeof *m);
    VP_NEED(m);
    pthread_mutex_init(&m->lock, NULL);
    *out = m;
    return 0;
}

static void drop_memo_slot(http_memo *m, slot *s)
{
    if (!s->response)
        return;
    MHD_destroy_response(s->response);
    vp_free(s->target);
    m->bytes -= s->bytes;
    *s = (slot){0};
}

void http_memo_clear(http_memo *m)
{
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < SLOTS; i++)
        drop_memo_slot(m, &m->slots[i]);
    pthread_mutex_unlock(&m->lock);
}

void http_memo_free(http_memo *m)
{
    if (!m)
        return;
    http_memo_clear(m);
    pthread_mutex_destroy(&m->lock);
    vp_free(m);
}

/* Conditions, ranges and refused encodings are handled by file_answer.c. */
static bool is_unconditional_request(const http_req *rq)
{
    for (size_t i = 0; i < rq->head.field_count; i++) {
        vp_str name = rq->head.fields[i].name;
        if (vp_str_starts_nocase(name, VP_STR("if-")) || vp_str_eq_nocase(name, VP_STR("range")))
            return false;
    }
    return !http_is_post(rq) && http_coding_of(rq, false) != HTTP_NO_CODING;
}

static uint64_t memo_hash(vp_str target, http_coding coding)
{
    return vp_hash(target.p, target.n, coding);
}

/* Called with the lock. */
static slot *find_memo_slot(http_memo *m, vp_str target, http_coding coding, uint64_t hash)
{
    for (size_t i = 0; i < PROBES; i++) {
        slot *s = &m->slots[(hash + i) % SLOTS];
        if (s->response && s->hash == hash && s->coding == coding &&
            vp_str_eq(vp_str_of(s->target), target))
            return s;
    }
    return NULL;
}

bool http_memo_send(http_memo *m, http_req *rq, enum MHD_Result *queued)
{
    http_coding coding = http_coding_of(rq, true);
    uint64_t hash = memo_hash(rq->verdict.target, coding);
    if (!is_unconditional_request(rq))
        return false;
    pthread_mutex_lock(&m->lock);
    slot *s = find_memo_slot(m, rq->verdict.target, coding, hash);
    bool fresh = s && vp_now_coarse_ms() < s->until_ms;
    if (fresh) {
        rq->status = 200;
        rq->body_bytes = s->bytes;
        *queued = MHD_queue_response(rq->conn, rq->status, s->response);
    }
    pthread_mutex_unlock(&m->lock);
    return fresh;
}

/* Called with the lock held. The slot to evict: of the candidates for the key, the one that expires
 * first. */
static slot *oldest_memo_slot(http_memo *m, uint64_t hash)
{
    slot *first = &m->slots[hash % SLOTS];
    for (size_t i = 1; i < PROBES; i++) {
        slot *s = &m->slots[(hash + i) % SLOTS];
        if (s->until_ms < first->until_ms)
            first = s;
    }
    return first;
}

/* Called with the lock. */
static void drop_stale(http_memo *m)
{
    int64_t now = vp_now_coarse_ms();
    for (size_t i = 0; i < SLOTS; i++)
        if (m->slots[i].until_ms <= now)
            drop_memo_slot(m, &m->slots[i]);
}

static bool may_keep(const http_req *rq)
{
    return rq->keep_ms > 0 && rq->status == 200 && is_unconditional_request(rq) &&
           rq->body_bytes <= VP_HTTP_MEMO_BODY_MAX && !(rq->route->flags & HTTP_CORS);
}

void http_memo_keep(http_memo *m, http_req *rq, struct MHD_Response *taken)
{
    http_coding coding = http_coding_of(rq, true);
    uint64_t hash = memo_hash(rq->verdict.target, coding);
    char *target = may_keep(rq) ? vp_strndup(rq->verdict.target.p, rq->verdict.target.n) : NULL;
    if (!target) {
        MHD_destroy_response(taken);
        return;
    }
    pthread_mutex_lock(&m->lock);
    slot *s = find_memo_slot(m, rq->verdict.target, coding, hash);
    if (!s)
        s = oldest_memo_slot(m, hash);
    drop_memo_slot(m, s);
    if (m->bytes + rq->body_bytes > VP_HTTP_MEMO_BYTES_MAX)
        drop_stale(m);
    if (m->bytes + rq->body_bytes <= VP_HTTP_MEMO_BYTES_MAX) {
        *s = (slot){taken, target, hash, coding, rq->body_bytes, vp_now_coarse_ms() + rq->keep_ms};
        m->bytes += s->bytes;
        taken = NULL;
        target = NULL;
    }
    pthread_mutex_unlock(&m->lock);
    if (taken)
        MHD_destroy_response(taken);
    vp_free(target);
}
