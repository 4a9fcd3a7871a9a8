/* Copies the image of a recording while its threads continue to write. */
#include "trace/capture/session/past_copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/base/mem.h"
#include "trace/capture/gpu/cupti.h"
#include "trace/capture/pool/clock.h"
#include "trace/capture/pool/thread_names.h"
#include "trace/capture/threads/recording_thread.h"

/* Copies words that others may be writing, with acquire loads, so that later reads of a chunk are
 * not older than the copy. A word that is being written is copied in any state, because nothing in
 * the copy refers to it. This race is intentional, so the thread sanitizer is disabled. */
__attribute__((no_sanitize("thread"))) static void copy_words(char *to, const char *from,
                                                              size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8)
        *(uint64_t *)(void *)(to + i) =
            __atomic_load_n((const uint64_t *)(const void *)(from + i), __ATOMIC_ACQUIRE);
}

static void copy_area(char *to, const char *from, const vpcap_area *a, size_t entry)
{
    uint64_t used = __atomic_load_n(&a->used, __ATOMIC_ACQUIRE);
    used = used < a->cap ? used : a->cap;
    copy_words(to + a->at, from + a->at, (used * entry + 7) / 8 * 8);
}

/* A chunk as found. sealed: its position in the order of the ring; UINT64_MAX: in use. */
typedef struct found {
    uint64_t sealed, events;
    uint32_t page, recycled;
} found;

/* false: it was reused for another thread meanwhile, and does not belong to the past any more. */
static bool copy_chunk(vp__chunk *to, const vp__chunk *from, const found *f)
{
    vp__chunk head;
    copy_words((char *)&head, (const char *)from, sizeof head);
    uint64_t state = __atomic_load_n(&from->state, __ATOMIC_ACQUIRE);
    uint32_t status = __atomic_load_n(&from->status, __ATOMIC_ACQUIRE);
    uint32_t slots = (uint32_t)state;
    head.state = state;
    head.status = status;
    if (slots > head.pages * (VP__PAGE / VP__SLOT))
        slots = 0;
    copy_words((char *)to, (const char *)from, (size_t)slots * VP__SLOT);
    bool is_same = VP__LOAD(from->status) != VP__CHUNK_CLAIMED &&
                   VP__LOAD(from->recycled) == f->recycled && head.recycled == f->recycled;
    if (!is_same)
        head.status = VP__CHUNK_CLAIMED;
    *to = head;
    return is_same;
}

static uint32_t find_sealed_chunks(found *out, const cap_pool *p)
{
    uint32_t end = __atomic_load_n(&p->head->pages_used, __ATOMIC_ACQUIRE), n = 0;
    for (uint32_t page = 0; page < end;) {
        const vp__chunk *c = pool_chunk(p, page);
        uint32_t pages = __atomic_load_n(&c->pages, __ATOMIC_ACQUIRE);
        if (VP__LOAD(c->magic) != VP__CHUNK_MAGIC || !pages || pages > end - page) {
            page++;
            continue;
        }
        uint64_t sealed =
            p->ring && pages == VP__CHUNK_PAGES
                ? __atomic_load_n(&p->sealed[page / VP__CHUNK_PAGES], __ATOMIC_ACQUIRE)
                : 0;
        out[n++] = (found){sealed ? sealed : UINT64_MAX, VP__LOAD(c->state) >> 32, page,
                           VP__LOAD(c->recycled)};
        page += pages;
    }
    return n;
}

static int newest_chunk_first(const void *pa, const void *pb)
{
    const found *a = pa, *b = pb;
    return a->sealed > b->sealed ? -1 : a->sealed < b->sealed;
}

/* A thread takes its next chunk only when the previous one is complete. So the copy has everything
 * that ended before the search, unless a chunk is reused for newer zones meanwhile. That happens to
 * the oldest first, which are therefore copied last. */
static int copy_chunks(char *to, const cap_pool *p)
{
    vpcap_header *h = p->head;
    VP_CLEANUP(vp_free_ptr) found *all = vp_calloc((size_t)h->pages + 1, sizeof *all);
    if (!all)
        return vp_fail(VP_ENOMEM, "out of memory: a copy of the pool");
    uint32_t n = find_sealed_chunks(all, p);
    uint64_t lost_until = __atomic_load_n(&h->lost_until, __ATOMIC_ACQUIRE);
    uint64_t overwritten = VP__LOAD(h->gone_overwritten);
    qsort(all, n, sizeof *all, newest_chunk_first);
    for (uint32_t i = 0; i < n; i++) {
        vp__chunk *c = (vp__chunk *)(void *)(to + h->chunks_at + (uint64_t)all[i].page * VP__PAGE);
        if (copy_chunk(c, pool_chunk(p, all[i].page), &all[i]))
            continue;
        lost_until = __atomic_load_n(&h->lost_until, __ATOMIC_ACQUIRE);
        overwritten += all[i].events;
    }
    copy_words(to, p->image, sizeof(vpcap_header)); /* includes the number of names */
    h = (vpcap_header *)(void *)to;
    h->lost_until = lost_until;
    h->gone_overwritten = overwritten;
    return 0;
}

/* A thread writes a text before the name that uses it, and a name before the event that uses it.
 * Copying in the opposite order, events first, ensures that everything that an event in the copy
 * refers to is in the copy. */
static int copy_image(char *to, const cap_pool *p)
{
    VP_TRY(copy_chunks(to, p));
    copy_area(to, p->image, &p->head->names, sizeof(vpcap_name_entry));
    copy_area(to, p->image, &p->head->devices, sizeof(vpcap_device_entry));
    copy_area(to, p->image, &p->head->tracks, sizeof(vpcap_track_entry));
    copy_area(to, p->image, &p->head->metas, sizeof(vpcap_meta_entry));
    copy_area(to, p->image, &p->head->strings, 1);
    return 0;
}

static void cut_past_header(vpcap_header *h, const struct cap_past *p)
{
    h->stop = p->until;
    h->flags |= VPCAP_FINISHED;
    h->cut_ticks = h->start.ticks;
    if (p->seconds <= 0)
        return;
    double ticks = p->seconds * (double)clock_rate();
    if (ticks < (double)(h->stop.ticks - h->start.ticks))
        h->cut_ticks = h->stop.ticks - (uint64_t)ticks;
}

static void count_past_events(vp_result *r, const vpcap *v)
{
    session_count_view(r, v);
    r->zones = 0;
    for (uint32_t i = 0; i < vpcap_threads(v); i++) {
        vpcap_cursor *c = NULL;
        vpcap_event e;
        if (vpcap_cursor_new(&c, v, i) < 0)
            continue;
        while (vpcap_next(c, &e))
            r->zones += e.kind != VPCAP_LOST && e.name != VPCAP_NAME_FLOW;
        vpcap_cursor_free(c);
    }
}

/* GPU activity after the cut, as known by now. */
static gpu_activity *gpu_past(vp_result *r, const cap_session *s, const vpcap_header *h)
{
    bool whole = h->cut_ticks <= h->start.ticks; /* then including activity during the start */
    uint64_t ticks = whole ? 0 : h->stop.ticks - h->cut_ticks;
    int64_t past_ns = (int64_t)((double)ticks / (double)clock_rate() * 1e9);
    if (s->cfg.gpu == VP_GPU_OFF)
        return NULL;
    gpu_activity *gpu = cupti_past(ticks ? h->stop.unix_ns - past_ns : 0);
    if (gpu) {
        r->gpu_records = gpu->count;
        r->gpu_dropped = gpu->dropped;
        r->gpu_status = gpu->status;
    }
    return gpu;
}

static int copy_past_image(cap_session *s, const struct cap_past *p)
{
    size_t size = cap_pool_now.size;
    vp_result *r = &s->result;
    char *image = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (image == MAP_FAILED)
        return vp_fail(VP_ENOMEM, "out of memory: a copy of the pool");
    vpcap_header *h = (vpcap_header *)(void *)image;
    madvise(image, size, MADV_DONTFORK);
    s->pool = (cap_pool){.image = image, .size = size, .head = h, .ring = cap_pool_now.ring};
    VP_TRY(copy_image(image, &cap_pool_now));
    *r = p->from->result;
    session_count(r, &cap_pool_now);
    thread_names_apply(&s->pool);
    cut_past_header(h, p);
    s->gpu = gpu_past(r, s, h);
    return 0;
}

/* Releases the pool before creating the directory, because the end of that recording waits for the
 * copy only. */
int past_take(cap_session *s)
{
    vpcap *v = NULL;
    int rc = copy_past_image(s, s->past);
    session_lock();
    s->past->from->readers--;
    session_changed();
    session_unlock();
    VP_TRY(rc);
    vpcap_header *h = s->pool.head;
    VP_TRY(run_dir_make(&s->run, s->cfg.dir));
    snprintf(h->session, sizeof h->session, "%.200s", vp_path_name(s->run.path));
    memcpy(s->result.run_dir, s->run.path, sizeof s->result.run_dir);
    rc = vpcap_open(&v, s->pool.image, s->pool.size);
    if (rc == 0)
        count_past_events(&s->result, v);
    vpcap_free(v);
    return rc;
}
