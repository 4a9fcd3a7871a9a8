/* Marks the events of host threads with kinds that several analyses search for. */
#include "trace/analyze/device/device_sums.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* Words of bits that one thread fills at a time: one million events. */
#define PIECE_WORDS (16u << 10)

typedef struct piece {
    const trace_track *k;
    uint64_t *bits;
    size_t first; /* word of them */
} piece;

typedef struct marking {
    const host_kinds *x;
    piece *v;
    size_t n;
} marking;

static size_t bit_words_of_track(const trace_track *k)
{
    return k->role == SINK_ROLE_PLAIN ? (k->count + 63) / 64 : 0;
}

static int mark_piece(void *ctx, uint32_t i)
{
    const marking *m = ctx;
    const piece *p = &m->v[i];
    size_t end = p->first + PIECE_WORDS, words = bit_words_of_track(p->k);
    for (size_t w = p->first; w < end && w < words; w++) {
        size_t first = w * 64, n = p->k->count - first < 64 ? p->k->count - first : 64;
        uint64_t has = 0;
        for (size_t e = 0; e < n; e++)
            has |= (uint64_t)((m->x->flags[trace_kind_of(p->k, first + e)] & HK_MARKED) != 0) << e;
        p->bits[w] = has;
    }
    return 0;
}

/* Allocates the bits of each host thread, and divides these into work items. */
static int lay_out_thread_bits(host_kinds *x, marking *m)
{
    size_t words = 0, pieces = 0;
    for (uint32_t i = 0; i < x->t->track_count; i++) {
        words += bit_words_of_track(&x->t->tracks[i]);
        pieces += (bit_words_of_track(&x->t->tracks[i]) + PIECE_WORDS - 1) / PIECE_WORDS;
    }
    x->marked = vp_calloc((size_t)x->t->track_count + 1, sizeof *x->marked);
    x->bits = vp_realloc_array(NULL, words + 1, sizeof *x->bits);
    m->v = vp_calloc(pieces + 1, sizeof *m->v);
    VP_NEED(x->marked && x->bits && m->v);
    uint64_t *at = x->bits;
    for (uint32_t i = 0; i < x->t->track_count; i++) {
        size_t n = bit_words_of_track(&x->t->tracks[i]);
        x->marked[i] = at;
        for (size_t w = 0; w < n; w += PIECE_WORDS)
            m->v[m->n++] = (piece){&x->t->tracks[i], at, w};
        at += n;
    }
    return 0;
}

int host_mark_events(host_kinds *x)
{
    marking m = {.x = x};
    int rc = lay_out_thread_bits(x, &m);
    if (rc >= 0)
        rc = vp_each(device_sums_threads(x->t), (uint32_t)m.n, mark_piece, &m);
    vp_free(m.v);
    return rc;
}
