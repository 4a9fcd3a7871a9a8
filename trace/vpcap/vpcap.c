#include "trace/vpcap/vpcap.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/vpcap/vpcap_view.h"

/* A tick lasts between 1 ps and 1 us. A file with another rate is damaged; the bounds keep products
 * within 128 bits. */
#define PS_PER_TICK_MIN (UINT64_C(1) << 32)
#define PS_PER_TICK_MAX (UINT64_C(1000000) << 32)

static uint64_t rate_between(const vpcap_pair *a, const vpcap_pair *b)
{
    unsigned __int128 rate;
    uint64_t ticks = b->ticks - a->ticks;
    uint64_t ns = (uint64_t)b->mono_ns - (uint64_t)a->mono_ns;
    if (!ticks || !ns || ticks > INT64_MAX || ns > INT64_MAX)
        return 0;
    rate = ((unsigned __int128)ns * 1000 << 32) / ticks;
    return rate >= PS_PER_TICK_MIN && rate <= PS_PER_TICK_MAX ? (uint64_t)rate : 0;
}

/* Picoseconds per tick (32.32 fixed point), from the two pairs of clock readings that are farthest
 * apart. */
static uint64_t tick_rate_of(const vpcap_header *h)
{
    uint64_t rate = 0;
    if (h->flags & VPCAP_FINISHED)
        rate = rate_between(&h->start, &h->stop);
    else if (h->latest_version && h->latest_version % 2 == 0)
        rate = rate_between(&h->start, &h->latest);
    if (!rate && h->start_ticks_per_s)
        rate = (uint64_t)((((unsigned __int128)1000000000000u) << 32) / h->start_ticks_per_s);
    return rate >= PS_PER_TICK_MIN && rate <= PS_PER_TICK_MAX ? rate : UINT64_C(1000) << 32;
}

/* Zones without items that start before this time end within VP_TIME_MAX_PS, because their duration
 * has 32 bits. */
static uint64_t plain_ticks_of(uint64_t rate)
{
    return (uint64_t)(((unsigned __int128)VP_TIME_MAX_PS << 32) / rate) - UINT32_MAX;
}

static int fail_damaged_recording(const char *what, size_t byte)
{
    return vp_fail_at(vp_fail(VP_ECORRUPT, "damaged recording: %s", what), NULL, -1, (int64_t)byte);
}

static bool area_fits(const vpcap_area *a, size_t entry, size_t n)
{
    return a->at >= sizeof(vpcap_header) && a->at % 8 == 0 && a->at <= n &&
           a->cap <= (n - a->at) / entry;
}

static bool tables_fit(const vpcap_header *h, size_t n)
{
    return area_fits(&h->names, sizeof(vpcap_name_entry), n) &&
           area_fits(&h->devices, sizeof(vpcap_device_entry), n) &&
           area_fits(&h->tracks, sizeof(vpcap_track_entry), n) &&
           area_fits(&h->metas, sizeof(vpcap_meta_entry), n) &&
           area_fits(&h->open, sizeof(vpcap_open_entry), n) && area_fits(&h->strings, 1, n);
}

static int check_header(const vpcap_header *h, size_t n)
{
    if (memcmp(h->magic, VPCAP_MAGIC, sizeof h->magic) != 0)
        return fail_damaged_recording("this is no recording", 0);
    if (h->version != VPCAP_VERSION || h->header_bytes != sizeof *h)
        return vp_fail(VP_EUNSUPPORTED, "recorded by another version (layout %u, read is %u)",
                       h->version, VPCAP_VERSION);
    if (h->image_bytes > n && h->flags & VPCAP_FINISHED)
        return fail_damaged_recording("the file is cut off", n);
    if (!tables_fit(h, n))
        return tables_fit(h, h->image_bytes)
                   ? fail_damaged_recording("the file is cut off", n)
                   : fail_damaged_recording("a table lies outside", offsetof(vpcap_header, names));
    if (h->chunks_at % VP__PAGE || h->chunks_at > h->image_bytes ||
        h->pages > (h->image_bytes - h->chunks_at) / VP__PAGE)
        return fail_damaged_recording("its pages lie outside", offsetof(vpcap_header, chunks_at));
    return 0;
}

/* While a process records, and after it was killed, its file ends after the pages in use. A file
 * that ends earlier is incomplete. */
static int check_length(vpcap_header *h, size_t n)
{
    uint64_t there = n > h->chunks_at ? (n - h->chunks_at) / VP__PAGE : 0;
    if (there < h->pages && there < h->pages_used)
        return fail_damaged_recording("the file is cut off", n);
    h->pages = there < h->pages ? (uint32_t)there : h->pages;
    return 0;
}

static int add_chunk(vpcap *v, const vp__chunk *c, uint32_t page, uint32_t pages)
{
    uint32_t slots = pages * (VP__PAGE / VP__SLOT);
    uint32_t head = (uint32_t)__atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
    VP_TRY(
        vp_grow(&v->chunks, &v->chunk_cap, v->chunk_count + 1, sizeof *v->chunks, v->head.pages));
    v->chunks[v->chunk_count++] = (vpcap_chunk_ref){.thread = c->thread,
                                                    .block = c->block,
                                                    .order = c->order,
                                                    .page = page,
                                                    .head = head < slots ? head : slots};
    return 0;
}

/* True if a record follows the last published one: its writer was stopped before publishing it. A
 * reused chunk contains old records there, so this is unknown for it. */
static bool is_torn(const vp__chunk *c, const vpcap_chunk_ref *ref, uint32_t slots)
{
    const vp__record *next = (const vp__record *)c + ref->head;
    return __atomic_load_n(&c->status, __ATOMIC_RELAXED) == VP__CHUNK_OPEN && !c->recycled &&
           ref->head >= sizeof *c / VP__SLOT && ref->head < slots && ref->head < c->limit &&
           __atomic_load_n(&next->start, __ATOMIC_RELAXED) &&
           __atomic_load_n(&next->what, __ATOMIC_RELAXED);
}

static int vpcap_find_chunks(vpcap *v)
{
    uint32_t page = 0,
             end = v->head.pages_used < v->head.pages ? v->head.pages_used : v->head.pages;
    while (page < end) {
        const vp__chunk *c = vpcap_chunk_at(v, page);
        uint32_t status = __atomic_load_n(&c->status, __ATOMIC_ACQUIRE);
        uint32_t pages = __atomic_load_n(&c->pages, __ATOMIC_RELAXED);
        if (c->magic != VP__CHUNK_MAGIC || !pages || pages > VP__CHUNK_PAGES ||
            pages > end - page) {
            page++; /* allocated, but its head was not written yet */
            continue;
        }
        if (status == VP__CHUNK_OPEN || status == VP__CHUNK_SEALED) {
            VP_TRY(add_chunk(v, c, page, pages));
            v->info.torn +=
                is_torn(c, &v->chunks[v->chunk_count - 1], pages * (VP__PAGE / VP__SLOT));
        }
        page += pages;
    }
    return 0;
}

static int by_chunk_thread(const void *pa, const void *pb)
{
    const vpcap_chunk_ref *a = pa, *b = pb;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static uint64_t events_of(const vpcap *v, const vpcap_chunk_ref *ref)
{
    uint64_t events = __atomic_load_n(&vpcap_chunk_at(v, ref->page)->state, __ATOMIC_RELAXED) >> 32;
    return events < ref->head ? events : ref->head; /* each event takes at least one slot */
}

static int vpcap_add_thread(vpcap *v, vpcap_thread_ref t)
{
    VP_TRY(vp_grow(&v->threads, &v->thread_cap, v->thread_count + 1, sizeof *v->threads,
                   (size_t)v->head.pages + 1));
    v->threads[v->thread_count++] = t;
    return 0;
}

/* Groups chunks with the same block into threads. A ring may have discarded a thread's first chunk,
 * which contains the block. */
static int find_threads(vpcap *v)
{
    if (v->chunk_count)
        qsort(v->chunks, v->chunk_count, sizeof *v->chunks, by_chunk_thread);
    for (size_t i = 0, end; i < v->chunk_count; i = end) {
        const vpcap_chunk_ref *first = &v->chunks[i];
        uint64_t events = 0;
        for (end = i; end < v->chunk_count && v->chunks[end].block == first->block &&
                      v->chunks[end].thread == first->thread;
             end++)
            events += events_of(v, &v->chunks[end]);
        bool has_block = first->page == first->block && !first->order;
        VP_TRY(vpcap_add_thread(v, (vpcap_thread_ref){has_block ? first->page : VPCAP_NONE,
                                                      (uint32_t)i, (uint32_t)end, events, 0, 0,
                                                      first->thread}));
    }
    const vpcap_header *h = &v->head;
    if (h->gone_dropped_full | h->gone_dropped_signal | h->gone_dropped_depth |
        h->gone_unmatched_ends | h->gone_overwritten | h->gone_left)
        VP_TRY(vpcap_add_thread(v, (vpcap_thread_ref){.page = VPCAP_GONE}));
    return 0;
}

/* True if all events of the chunk ended before these ticks. */
static bool chunk_ended_before(const vpcap *v, const vpcap_chunk_ref *ref, uint64_t ticks)
{
    uint64_t until = __atomic_load_n(&vpcap_chunk_at(v, ref->page)->until, __ATOMIC_RELAXED);
    return until && (int64_t)(ticks - until) >= 0;
}

/* Skips what ended before `begin`. A ring discards chunks of a busy thread sooner than those of
 * others. From `begin` on, the end of the newest discarded chunk, it has all events of every
 * thread. */
static int pass_what_is_not_of_all(vpcap *v, uint64_t begin)
{
    for (uint32_t i = 0; i < v->thread_count; i++) {
        vpcap_thread_ref *t = &v->threads[i];
        uint64_t passed = 0;
        vpcap_cursor *c;
        for (; t->first + 1 < t->end && chunk_ended_before(v, &v->chunks[t->first], begin);
             t->first++)
            passed += events_of(v, &v->chunks[t->first]);
        VP_TRY(vpcap_cursor_new(&c, v, i));
        passed += vpcap_cursor_pass(&t->slot, c, begin);
        vpcap_cursor_free(c);
        t->passed = passed < t->events ? passed : t->events;
        t->events -= t->passed;
    }
    return 0;
}

static void set_begin(vpcap *v)
{
    const vpcap_header *h = &v->head;
    uint64_t begin = h->cut_ticks;
    if (h->lost_until && (!begin || (int64_t)(h->lost_until - begin) > 0))
        begin = h->lost_until;
    int64_t ps = begin ? vpcap_ps(v, begin) : 0;
    v->info.begin_ps = ps < 0 ? 0 : ps < v->info.end_ps ? ps : v->info.end_ps;
}

static int by_begin(const void *pa, const void *pb)
{
    const vpcap_open_zone *a = pa, *b = pb;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Reads the listed zones that have not ended. Only an interrupted recording has any. */
static int vpcap_find_open_zones(vpcap *v)
{
    const vpcap_open_entry *e = (const void *)(v->image + v->head.open.at);
    uint32_t n = vpcap_count_of(&v->head.open);
    n = n < VPCAP_OPEN_MAX ? n : VPCAP_OPEN_MAX;
    if (!n || (v->info.finished && !v->info.truncated))
        return 0;
    v->open = vp_calloc(n, sizeof *v->open);
    if (!v->open)
        return vp_fail(VP_ENOMEM, "out of memory: a recording's open zones");
    for (uint32_t i = 0; i < n; i++) {
        vpcap_open_zone z = {.start = __atomic_load_n(&e[i].start, __ATOMIC_ACQUIRE),
                             .thread = e[i].thread,
                             .block = e[i].block,
                             .name = e[i].name,
                             .kind = e[i].kind,
                             .number = (int64_t)e[i].number};
        if (z.start)
            v->open[v->open_count++] = z;
    }
    qsort(v->open, v->open_count, sizeof *v->open, by_begin);
    return 0;
}

/* For an unfinished recording: finds the end of its last event, and the latest time recorded by any
 * thread. Until both are known, open zones end where they begin. */
static int vpcap_find_end(vpcap *v)
{
    int64_t last = 0, last_ps = 0;
    v->end_ticks = v->head.start.ticks;
    for (uint32_t t = 0; t < v->thread_count; t++) {
        vpcap_cursor *c = NULL;
        vpcap_event e;
        VP_TRY(vpcap_cursor_new(&c, v, t));
        while (vpcap_next(c, &e))
            last_ps = e.start_ps + e.dur_ps > last_ps ? e.start_ps + e.dur_ps : last_ps;
        int64_t known = vpcap_cursor_last(c);
        last = known > last ? known : last;
        vpcap_cursor_free(c);
    }
    v->end_ticks += (uint64_t)last;
    v->info.end_ps = last_ps;
    return 0;
}

static void fill_info(vpcap *v)
{
    const vpcap_header *h = &v->head;
    v->info.host = vpcap_inline_text(h->host, sizeof h->host);
    v->info.program = vpcap_inline_text(h->program, sizeof h->program);
    v->info.session = vpcap_inline_text(h->session, sizeof h->session);
    v->info.pid = h->pid;
    v->info.start_unix_ns = h->start.unix_ns;
    v->info.finished = h->flags & VPCAP_FINISHED;
    v->info.truncated = h->flags & VPCAP_TRUNCATED;
    v->info.ring = h->flags & VPCAP_IS_RING;
    v->info.full = h->flags & VPCAP_IS_FULL;
    v->info.later_ns = v->info.full && h->later_ns > 0 ? h->later_ns : 0;
    if (v->info.finished)
        v->info.torn = 0; /* finishing waits for all writers */
}

int vpcap_open(vpcap **out, const void *image, size_t n)
{
    vpcap *v;
    int rc;
    if (n < sizeof(vpcap_header))
        return fail_damaged_recording("it is shorter than its head", n);
    v = vp_calloc(1, sizeof *v);
    if (!v)
        return vp_fail(VP_ENOMEM, "out of memory: a recording's view");
    v->image = image;
    memcpy(&v->head, image, sizeof v->head);
    rc = check_header(&v->head, n);
    rc = rc < 0 ? rc : check_length(&v->head, n);
    if (rc == 0) {
        v->ps_per_tick = tick_rate_of(&v->head);
        v->plain_ticks = plain_ticks_of(v->ps_per_tick);
        rc = vpcap_find_chunks(v);
    }
    if (rc == 0)
        rc = find_threads(v);
    if (rc == 0 && v->head.lost_until)
        rc = pass_what_is_not_of_all(v, v->head.lost_until);
    fill_info(v);
    v->end_ticks = v->head.stop.ticks;
    v->info.end_ps = vpcap_ps(v, v->end_ticks);
    if (rc == 0)
        rc = vpcap_find_open_zones(v);
    if (rc == 0 && !v->info.finished)
        rc = vpcap_find_end(v);
    if (rc < 0) {
        vpcap_free(v);
        return rc;
    }
    set_begin(v);
    *out = v;
    return 0;
}

void vpcap_free(vpcap *v)
{
    if (!v)
        return;
    vp_free(v->chunks);
    vp_free(v->threads);
    vp_free(v->open);
    vp_free(v);
}
