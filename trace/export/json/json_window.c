#include "trace/export/json/json_window.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* An event of the maximum size and the chunk that shows that it is larger. */
#define OWN_MAX (4 * (size_t)VP_JSON_EVENT_MAX + RD_PAD)

int ex_window_init(ex_window *w, rd_stream *in)
{
    *w = (ex_window){.in = in, .tail = vp_malloc(RD_HEADROOM)};
    if (w->tail)
        return 0;
    ex_window_free(w);
    return vp_no_memory();
}

void ex_window_free(ex_window *w)
{
    rd_stream_close(&w->in);
    vp_free(w->own);
    vp_free(w->tail);
}

static int window_next_chunk(ex_window *w, char **p, size_t *n)
{
    int rc = w->over ? 0 : w->in->next(w->in, p, n);
    if (rc == 0)
        w->over = true;
    if (rc > 0)
        w->offset += (int64_t)*n;
    return rc;
}

/* Reserves n bytes, keeping the first `keep`. */
static int own_room(ex_window *w, size_t n)
{
    return vp_grow(&w->own, &w->own_cap, n + RD_PAD, 1, OWN_MAX);
}

/* [p,end) is already at the start of `own`; appends chunks until it has doubled. */
static int window_collect(ex_window *w, size_t keep, const char *chunk, size_t n)
{
    size_t have = keep;
    for (;;) {
        VP_TRY(own_room(w, have + n));
        memcpy(w->own + have, chunk, n);
        have += n;
        w->p = w->own;
        w->end = w->own + have;
        if (have >= 2 * keep)
            return 1;
        char *more;
        int rc = window_next_chunk(w, &more, &n);
        if (rc < 0)
            return rc;
        if (rc == 0)
            return 1;
        chunk = more;
    }
}

int ex_window_more(ex_window *w)
{
    size_t keep = (size_t)(w->end - w->p), n = 0;
    char *chunk = NULL;
    bool small = keep <= RD_HEADROOM;
    if (small && keep) {
        memcpy(w->tail, w->p, keep); /* its chunk is about to be released */
    } else if (!small) {
        bool inside = w->own && w->p >= w->own && w->p < w->own + w->own_cap;
        size_t at = inside ? (size_t)(w->p - w->own) : 0;
        VP_TRY(own_room(w, keep));
        memmove(w->own, inside ? w->own + at : w->p, keep);
    }
    int rc = window_next_chunk(w, &chunk, &n);
    if (rc > 0 && small && n >= keep) {
        w->p = keep ? memcpy(chunk - keep, w->tail, keep) : chunk;
        w->end = chunk + n;
        return 1;
    }
    if (small) {
        int room = own_room(w, keep);
        if (room < 0)
            return room;
        memcpy(w->own, w->tail, keep);
    }
    w->p = w->own;
    w->end = w->own + keep;
    return rc > 0 ? window_collect(w, keep, chunk, n) : rc;
}
