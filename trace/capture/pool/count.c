/* A walk over the chunk heads of an image. */
#include "trace/capture/pool/count.h"

typedef struct walk {
    const cap_pool *pool;
    uint32_t page;
} walk;

/* The next chunk that was recorded into; NULL: none. */
static vp__chunk *next_recorded_chunk(walk *w)
{
    uint32_t end = VP__LOAD(w->pool->head->pages_used);
    while (w->page < end) {
        vp__chunk *c = pool_chunk(w->pool, w->page);
        uint32_t status = __atomic_load_n(&c->status, __ATOMIC_ACQUIRE);
        uint32_t pages = __atomic_load_n(&c->pages, __ATOMIC_ACQUIRE);
        if (VP__LOAD(c->magic) != VP__CHUNK_MAGIC || !pages) {
            w->page++;
            continue;
        }
        w->page += pages;
        if (status == VP__CHUNK_OPEN || status == VP__CHUNK_SEALED)
            return c;
    }
    return NULL;
}

void session_count(vp_result *r, const cap_pool *p)
{
    const vpcap_header *h = p->head;
    walk w = {p, 0};
    r->zones = 0;
    r->threads = h->gone_threads;
    r->dropped_full = h->gone_dropped_full;
    r->dropped_signal = h->gone_dropped_signal;
    r->dropped_depth = h->gone_dropped_depth;
    r->unmatched_ends = h->gone_unmatched_ends;
    r->overwritten = h->gone_overwritten;
    r->left = h->gone_left;
    for (vp__chunk *c; (c = next_recorded_chunk(&w));) {
        r->zones += __atomic_load_n(&c->state, __ATOMIC_ACQUIRE) >> 32;
        if (VP__LOAD(c->order))
            continue;
        const vp__block *b = pool_block(c);
        r->threads++;
        r->dropped_full += VP__LOAD(b->dropped_full);
        r->dropped_signal += VP__LOAD(b->dropped_signal);
        r->dropped_depth += VP__LOAD(b->dropped_depth);
        r->unmatched_ends += VP__LOAD(b->unmatched_ends);
        r->overwritten += VP__LOAD(b->overwritten);
        r->left += VP__LOAD(b->left);
    }
}

void session_count_view(vp_result *r, const vpcap *v)
{
    const vpcap_info *info = vpcap_info_of(v);
    r->zones = r->overwritten = 0;
    r->duration_ns = (info->end_ps - info->begin_ps) / 1000;
    for (uint32_t i = 0; i < vpcap_threads(v); i++) {
        vpcap_thread t = vpcap_thread_at(v, i);
        r->zones += t.written;
        r->overwritten += t.overwritten;
    }
}

bool session_any_open(const cap_pool *p)
{
    walk w = {p, 0};
    for (uint32_t place = 1; place <= VP__LOAD(p->head->open.used); place++)
        if (VP__LOAD(pool_open_at(p, place)->start))
            return true;
    for (vp__chunk *c; (c = next_recorded_chunk(&w));) {
        const vp__block *b = pool_block(c);
        for (uint32_t i = 0; !VP__LOAD(c->order) && i < VP__DEPTH; i++)
            if (VP__LOAD(b->scopes[i].start) || VP__LOAD(b->pairs[i].start))
                return true;
    }
    return false;
}

void session_each_block(const cap_pool *p, void (*fn)(void *ctx, vp__block *b), void *ctx)
{
    walk w = {p, 0};
    for (vp__chunk *c; (c = next_recorded_chunk(&w));)
        if (!VP__LOAD(c->order))
            fn(ctx, pool_block(c));
}
