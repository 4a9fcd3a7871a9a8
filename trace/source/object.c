#include "trace/source/object.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/base/thread.h"
#include "trace/base/time.h"
#include "trace/source/fetch_frames.h"
#include "trace/source/shared.h"

#define BLOCK (128u << 10)
/* Concurrent requests, and maximum of blocks per request: if requests take some ms and everything
 * is cached; if not everything is cached; and if requests take no time. */
#define LANES 4
#define RANGE_MAX 128u
#define RANGE 64u
#define RANGE_NEAR 32u
/* Blocks requested ahead of the readers: this many per lane. After a jump, a few, doubled as
 * readers advance. If not everything is cached and readers may jump again, at most half of what
 * they read since. */
#define AHEAD(range) (LANES * (range))
#define AHEAD_LEAST 4u
/* Sequential readers that advance by less than this skip the blocks in between; those of several
 * threads are this far behind the first. For readers that jump it is PASSED plus what arrives
 * during a request, assuming 500 MB/s. In blocks. */
#define NEAR 128u
#define PASSED 3u
#define PASSED_A_MS 4u
/* Blocks at the start that stay until sequential reading begins, which starts there. */
#define START 256u
/* Number of cached blocks: VP_REMOTE_CACHE_MAX. If each request takes at least FAR_MS, all of an
 * object of VP_REMOTE_CACHE_FAR. For objects read once, what is ahead. */
#define KEPT_MAX ((uint32_t)(VP_REMOTE_CACHE_MAX / BLOCK))
#define KEPT_FAR ((uint32_t)(VP_REMOTE_CACHE_FAR / BLOCK))
#define FAR_MS 10
#define KEPT_ONCE (AHEAD(RANGE) + 2u * RANGE)
#define NONE UINT32_MAX

typedef struct slot {
    uint64_t used; /* last use, by object.clock */
    uint32_t block, pins;
    bool ready; /* else it is being filled */
} slot;

typedef struct lane {
    vp_aside thread;
    struct object *o;
    int stream; /* under the lock; -1: no request */
} lane;

typedef struct object {
    source_ask ask;
    char *url;
    char etag[256];
    int64_t bytes;
    bool is_part;
    uint32_t blocks, slot_max;
    bool asked, once; /* asked: a response has arrived */
    bool in_order;    /* else readers jump */
    uint32_t *at;     /* block → slot, or NONE */
    pthread_mutex_t lock;
    pthread_cond_t work, ready; /* for the lanes; for the readers */
    shared memory;              /* slot i's block is at i * BLOCK */
    slot *slots;
    uint32_t slot_n;
    uint64_t clock;
    uint32_t cursor, ahead;     /* ahead: blocks to request from the cursor on */
    uint32_t jumped_to, passed; /* passed: maximum advance of jumping readers that is not a jump */
    uint32_t range, ahead_max;  /* blocks per request, and of all that are ahead */
    uint32_t wanted[64], wanted_n; /* blocks that readers wait for */
    lane lanes[LANES];
    size_t lane_n;
    bool quit;
    vp_error error; /* code 0: none */
} object;

static uint32_t object_block_bytes(const object *o, uint32_t block)
{
    int64_t left = o->bytes - (int64_t)block * BLOCK;
    return left < (int64_t)BLOCK ? (uint32_t)left : BLOCK;
}

/* ---- Blocks: the caller holds the lock ---- */

static bool lies_ahead(const object *o, uint32_t block)
{
    return block >= o->cursor && block - o->cursor < o->ahead;
}

static bool slot_stays(const object *o, const slot *s)
{
    return s->block < START && !o->in_order && !o->once;
}

/* True if all sequential readers are past it, and it may be replaced. */
static bool is_past(const object *o, const slot *s)
{
    return o->in_order && o->blocks > o->slot_max && s->block + NEAR < o->cursor;
}

static bool is_wanted_less(const object *o, const slot *a, const slot *b)
{
    if (slot_stays(o, a) != slot_stays(o, b))
        return slot_stays(o, b);
    return is_past(o, a) != is_past(o, b) ? is_past(o, a) : a->used < b->used;
}

/* The slot whose block is needed least, or NONE: all are in use. */
static uint32_t least_wanted_slot(const object *o)
{
    uint32_t best = NONE;
    for (uint32_t i = 0; i < o->slot_n; i++) {
        const slot *s = &o->slots[i];
        if (s->block == NONE)
            return i;
        if (s->ready && !s->pins && !lies_ahead(o, s->block) &&
            (best == NONE || is_wanted_less(o, s, &o->slots[best])))
            best = i;
    }
    return best;
}

static void object_fail(object *o)
{
    if (!o->error.code)
        o->error = *vp_error_last();
    pthread_cond_broadcast(&o->ready);
    pthread_cond_broadcast(&o->work);
}

/* Takes a slot for the block, to be filled. false: there is none. */
static bool object_take_slot(object *o, uint32_t block)
{
    uint32_t i = least_wanted_slot(o);
    /* Used memory is in the cache, so a slot without useful content is preferred to a new one. */
    bool free = i != NONE && (o->slots[i].block == NONE || is_past(o, &o->slots[i]));
    if (!free && o->slot_n < o->slot_max)
        i = o->slot_n;
    if (i == NONE)
        return false;
    slot *s = &o->slots[i];
    if (i == o->slot_n)
        o->slot_n++;
    else if (s->block != NONE)
        o->at[s->block] = NONE;
    *s = (slot){.block = block, .used = ++o->clock};
    o->at[block] = i;
    return true;
}

static void drop_block(object *o, uint32_t block)
{
    slot *s = &o->slots[o->at[block]];
    s->block = NONE;
    o->at[block] = NONE;
}

/* The first block that is not requested: one that a reader waits for, or one ahead. */
static uint32_t first_missing(const object *o, uint32_t *end)
{
    for (uint32_t i = 0; i < o->wanted_n; i++)
        if (o->at[o->wanted[i]] == NONE) {
            bool near = lies_ahead(o, o->wanted[i]);
            *end = near          ? o->cursor + o->ahead
                   : o->in_order ? o->wanted[i] + AHEAD_LEAST
                                 : o->wanted[i] + 1;
            return o->wanted[i];
        }
    uint32_t to = o->blocks - o->cursor < o->ahead ? o->blocks : o->cursor + o->ahead;
    uint32_t least = o->ahead / 2 < o->range ? o->ahead / 2 : o->range, b = o->cursor;
    while (b < to && o->at[b] != NONE)
        b++;
    *end = to;
    /* A few blocks at the end of the range ahead do not justify a request yet. */
    return b == to || (to - b < least && to < o->blocks) ? NONE : b;
}

/* Takes slots for the next blocks to request. */
static bool next_range(object *o, uint32_t *from, uint32_t *n)
{
    uint32_t end;
    *from = first_missing(o, &end);
    *n = 0;
    if (*from == NONE)
        return false;
    end = end < o->blocks ? end : o->blocks;
    while (*n < o->range && *from + *n < end && o->at[*from + *n] == NONE &&
           object_take_slot(o, *from + *n))
        ++*n;
    return *n > 0;
}

/* Wakes one lane at a time, and only if there is work: on an idle machine a wakeup costs more than
 * a block. A lane that finds more work than it takes wakes the next. */
static void call_lane(object *o)
{
    uint32_t end;
    if (first_missing(o, &end) != NONE)
        pthread_cond_signal(&o->work);
}

/* jumps: blocks that are not requested yet may be skipped by another jump. */
static void go_ahead(object *o, bool jumps)
{
    uint32_t most = o->ahead_max, half = (o->cursor - o->jumped_to) / 2 + AHEAD_LEAST;
    if (o->jumped_to && jumps && !o->once && half < most)
        most = half;
    o->ahead = !o->ahead ? AHEAD_LEAST : o->ahead < most / 2 ? o->ahead * 2 : most;
}

/* Updates the position of the readers. A block that is present never counts as a jump, because
 * decoding follows scanning. */
static void object_move_reader(object *o, uint32_t block)
{
    uint32_t next = block + 1, past = o->cursor;
    bool all = o->blocks <= o->slot_max; /* are cached */
    bool jumps = !all && !o->in_order;
    uint32_t reach = jumps ? o->passed : o->ahead + NEAR;
    if (next > past && next - past <= reach) {
        o->cursor = next;
        go_ahead(o, jumps);
    } else if (o->at[block] == NONE && (next > past || past - next > NEAR)) {
        o->cursor = o->jumped_to = next;
        o->ahead = all ? o->ahead_max : jumps ? 0 : AHEAD_LEAST;
    } else {
        return;
    }
    call_lane(o);
}

/* ---- The lanes ------------------------------------------------------------------------------- */

static int fail_content_changed(void)
{
    return vp_fail(VP_EIO, "changed since it was listed; list it again");
}

/* Checks the first frame of a response. */
static int check_info(object *o, vp_str payload)
{
    source_entry e;
    VP_TRY(source_entry_of(&e, payload));
    if (e.bytes >= 0 && e.bytes != o->bytes && !o->is_part)
        return fail_content_changed();
    if (!e.etag.n || e.etag.n >= sizeof o->etag)
        return 0;
    pthread_mutex_lock(&o->lock);
    if (!o->etag[0])
        memcpy(o->etag, e.etag.p, e.etag.n);
    bool same = vp_str_eq(e.etag, vp_str_of(o->etag));
    pthread_mutex_unlock(&o->lock);
    return same ? 0 : fail_content_changed();
}

/* A range of consecutive bytes being received. */
typedef struct filling {
    object *o;
    uint32_t block, end, n;     /* n bytes of the block are present */
    int64_t done;               /* bytes of the previous blocks */
    int64_t begun_ms;           /* time of the request */
    uint64_t places[RANGE_MAX]; /* of all blocks, in o->memory */
    uint32_t first;             /* the block of places[0] */
} filling;

static void block_done(filling *f)
{
    object *o = f->o;
    pthread_mutex_lock(&o->lock);
    o->slots[o->at[f->block]].ready = true;
    pthread_cond_broadcast(&o->ready);
    pthread_mutex_unlock(&o->lock);
    f->done += object_block_bytes(o, f->block);
    f->block++;
    f->n = 0;
}

/* Handles the fetcher's report of how many bytes are in the file. */
static int take_fill_progress(filling *f, vp_str payload)
{
    vp_pb r = vp_pb_of(payload);
    vp_pb_field p;
    uint64_t bytes = 0;
    while (vp_pb_next(&r, &p) == 1)
        bytes = p.number == FETCH_PROGRESS_BYTES ? p.u : bytes;
    while (f->block < f->end && bytes >= (uint64_t)f->done + object_block_bytes(f->o, f->block))
        block_done(f);
    return 0;
}

static int take_data(filling *f, int stream, size_t n)
{
    while (n) {
        if (f->block == f->end)
            return vp_fail(VP_EREMOTE, "the server sent more data than requested");
        uint32_t whole = object_block_bytes(f->o, f->block), room = whole - f->n;
        size_t part = n < room ? n : room;
        VP_TRY(fetch_take(stream, f->o->memory.p + f->places[f->block - f->first] + f->n, part));
        n -= part;
        f->n += (uint32_t)part;
        if (f->n == whole)
            block_done(f);
    }
    return 0;
}

/* The first response shows the latency. */
static void note_first_answer(object *o, int64_t ms)
{
    pthread_mutex_lock(&o->lock);
    bool first = !o->asked, far = first && ms >= FAR_MS && !o->once;
    o->asked = true;
    if (first)
        o->passed = PASSED + PASSED_A_MS * (ms < FAR_MS ? (uint32_t)ms : FAR_MS);
    if (far) {
        bool all = o->blocks <= KEPT_FAR;
        o->slot_max = all ? o->blocks : o->slot_max;
        o->range = all ? RANGE_MAX : RANGE;
        o->ahead_max = AHEAD(o->range);
    }
    pthread_mutex_unlock(&o->lock);
}

static int take_fetch_answer(filling *f, int stream)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    fetch_frame kind;
    size_t n;
    vp_buf_init(&b, FETCH_FRAME_MAX + 1);
    for (;;) {
        VP_TRY(fetch_head(stream, &kind, &n));
        note_first_answer(f->o, vp_now_ms() - f->begun_ms);
        if (kind == FETCH_DATA) {
            VP_TRY(take_data(f, stream, n));
            continue;
        }
        b.n = 0;
        char *p = vp_buf_reserve(&b, n + 1);
        VP_NEED(p);
        VP_TRY(fetch_take(stream, p, n));
        b.n = n;
        if (kind == FETCH_FAILED)
            return fetch_failure(vp_buf_view(&b));
        if (kind == FETCH_INFO)
            VP_TRY(check_info(f->o, vp_buf_view(&b)));
        if (kind == FETCH_PROGRESS)
            VP_TRY(take_fill_progress(f, vp_buf_view(&b)));
        if (kind == FETCH_DONE)
            return f->block == f->end ? 0 : vp_fail(VP_EREMOTE, "the transfer ended early");
    }
}

static int fetch_range(lane *l, uint32_t from, uint32_t n)
{
    object *o = l->o;
    filling f = {.o = o, .block = from, .end = from + n, .first = from, .begun_ms = vp_now_ms()};
    char etag[sizeof o->etag];
    int stream = -1;
    pthread_mutex_lock(&o->lock);
    memcpy(etag, o->etag, sizeof etag);
    for (uint32_t i = 0; i < n; i++)
        f.places[i] = (uint64_t)o->at[from + i] * BLOCK;
    pthread_mutex_unlock(&o->lock);
    int64_t offset = (int64_t)from * BLOCK, end = (int64_t)(from + n) * BLOCK;
    const source_question q = {.what = FETCH_READ,
                               .url = o->url,
                               .etag = etag,
                               .offset = offset,
                               .length = (end < o->bytes ? end : o->bytes) - offset,
                               .file = o->memory.fd,
                               .places = f.places,
                               .place_n = n,
                               .piece = BLOCK};
    int rc = source_ask_put(&o->ask, &q, &stream);
    pthread_mutex_lock(&o->lock);
    l->stream = stream;
    if (o->quit && rc >= 0)
        rc = VP_ECANCELLED;
    pthread_mutex_unlock(&o->lock);
    if (rc >= 0)
        rc = take_fetch_answer(&f, stream);
    pthread_mutex_lock(&o->lock);
    l->stream = -1;
    for (; f.block < f.end; f.block++)
        drop_block(o, f.block);
    if (rc < 0 && !o->quit)
        object_fail(o);
    pthread_mutex_unlock(&o->lock);
    vp_fs_close(&stream);
    return rc;
}

static int run_lane(void *ctx)
{
    lane *l = ctx;
    object *o = l->o;
    uint32_t from, n;
    pthread_mutex_lock(&o->lock);
    while (!o->quit && !o->error.code)
        if (next_range(o, &from, &n)) {
            call_lane(o);
            pthread_mutex_unlock(&o->lock);
            (void)fetch_range(l, from, n);
            pthread_mutex_lock(&o->lock);
        } else {
            pthread_cond_wait(&o->work, &o->lock);
        }
    pthread_mutex_unlock(&o->lock);
    return 0;
}

/* The caller holds the lock. A small object needs one lane. */
static int start_lanes(object *o)
{
    size_t want = (o->blocks + RANGE - 1) / RANGE;
    want = want < LANES ? want : LANES;
    for (; o->lane_n < want; o->lane_n++) {
        lane *l = &o->lanes[o->lane_n];
        *l = (lane){.o = o, .stream = -1};
        if (vp_aside_try(&l->thread, run_lane, l) < 0)
            return o->lane_n ? 0 : vp_error_last()->code;
    }
    return 0;
}

/* ---- The readers ----------------------------------------------------------------------------- */

static void want_block(object *o, uint32_t block)
{
    if (o->wanted_n < sizeof o->wanted / sizeof *o->wanted)
        o->wanted[o->wanted_n++] = block;
    pthread_cond_signal(&o->work);
}

static void want_no_more(object *o, uint32_t block)
{
    for (uint32_t i = 0; i < o->wanted_n; i++)
        if (o->wanted[i] == block) {
            o->wanted[i] = o->wanted[--o->wanted_n];
            return;
        }
}

/* The caller holds the lock, which is released meanwhile. The slot is pinned. */
static int get_block(object *o, uint32_t block, slot **out)
{
    bool wants = false;
    for (;;) {
        uint32_t i = o->at[block];
        if (i != NONE && o->slots[i].ready) {
            *out = &o->slots[i];
            break;
        }
        if (o->error.code)
            break;
        if (!wants)
            want_block(o, block);
        wants = true;
        pthread_cond_wait(&o->ready, &o->lock);
    }
    if (wants)
        want_no_more(o, block);
    if (!*out)
        return vp_fail_at(vp_fail_copy(&o->error), o->url, -1, -1);
    (*out)->pins++;
    (*out)->used = ++o->clock;
    return 0;
}

static int object_read(void *ctx, void *buf, size_t n, int64_t offset)
{
    object *o = ctx;
    char *to = buf;
    int rc = 0;
    pthread_mutex_lock(&o->lock);
    if (!o->lane_n)
        rc = start_lanes(o);
    while (n && rc >= 0) {
        uint32_t block = (uint32_t)(offset / BLOCK), skip = (uint32_t)(offset % BLOCK);
        size_t part = BLOCK - skip < n ? BLOCK - skip : n;
        slot *s = NULL;
        object_move_reader(o, block);
        rc = get_block(o, block, &s);
        if (rc < 0)
            break;
        pthread_mutex_unlock(&o->lock);
        memcpy(to, o->memory.p + (size_t)(s - o->slots) * BLOCK + skip, part);
        pthread_mutex_lock(&o->lock);
        s->pins--;
        to += part;
        n -= part;
        offset += (int64_t)part;
    }
    pthread_mutex_unlock(&o->lock);
    return rc;
}

static void object_in_order(void *ctx)
{
    object *o = ctx;
    pthread_mutex_lock(&o->lock);
    o->in_order = true;
    o->cursor = 0;
    o->ahead = o->ahead_max;
    call_lane(o);
    pthread_mutex_unlock(&o->lock);
}

/* ---- Ownership ---- */

static void object_close(void *ctx)
{
    object *o = ctx;
    pthread_mutex_lock(&o->lock);
    o->quit = true;
    for (size_t i = 0; i < o->lane_n; i++)
        if (o->lanes[i].stream >= 0)
            shutdown(o->lanes[i].stream, SHUT_RDWR);
    pthread_cond_broadcast(&o->work);
    pthread_mutex_unlock(&o->lock);
    for (size_t i = 0; i < o->lane_n; i++)
        vp_aside_wait(&o->lanes[i].thread);
    shared_close(&o->memory);
    pthread_cond_destroy(&o->work);
    pthread_cond_destroy(&o->ready);
    pthread_mutex_destroy(&o->lock);
    vp_free(o->slots);
    vp_free(o->at);
    vp_free(o->url);
    vp_free(o);
}

static int object_make(object *o, const object_of *of)
{
    if (of->bytes < 0 || of->bytes > VP_REMOTE_OBJECT_MAX || strlen(of->etag) >= sizeof o->etag)
        return vp_fail(VP_ELIMIT, "object too large: %lld bytes", (long long)of->bytes);
    o->bytes = of->bytes;
    o->is_part = of->is_part;
    o->blocks = (uint32_t)((of->bytes + BLOCK - 1) / BLOCK);
    o->once = of->once;
    o->slot_max = of->once ? KEPT_ONCE : KEPT_MAX;
    o->slot_max = o->blocks < o->slot_max ? o->blocks : o->slot_max;
    o->range = of->once ? RANGE : RANGE_NEAR;
    o->ahead = o->ahead_max = AHEAD(o->range);
    o->passed = PASSED;
    snprintf(o->etag, sizeof o->etag, "%s", of->etag);
    o->url = vp_strdup(of->url);
    o->at = vp_malloc(o->blocks * sizeof *o->at + 1);
    o->slots = vp_calloc(KEPT_FAR + 1u, sizeof *o->slots);
    VP_NEED(o->url && o->at && o->slots);
    memset(o->at, 0xff, o->blocks * sizeof *o->at);
    uint32_t most = !of->once && o->blocks <= KEPT_FAR ? o->blocks : o->slot_max;
    return shared_open(&o->memory, (size_t)most * BLOCK);
}

int object_source(rd_source **out, const source_ask *ask, const object_of *of)
{
    object *o = vp_calloc(1, sizeof *o);
    VP_NEED(o);
    o->ask = *ask;
    pthread_mutex_init(&o->lock, NULL);
    pthread_cond_init(&o->work, NULL);
    pthread_cond_init(&o->ready, NULL);
    int rc = object_make(o, of);
    if (rc < 0) {
        vp_fail_at(rc, of->url, -1, -1);
        object_close(o);
        return rc;
    }
    const rd_calls calls = {object_read, object_in_order, object_close, o};
    return rd_source_calls(out, of->bytes, &calls);
}
