#include "trace/source/source_ask.h"

#include <poll.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/pb.h"
#include "trace/source/fetch_frames.h"

/* Interval in ms in which a waiting caller checks the stop flag. */
#define LOOK_MS 100

static int put_asked_url(const source_ask *a, const char *url, vp_buf *b)
{
    VP_CLEANUP(vp_buf_free) vp_buf whole;
    vp_str rest = vp_str_of(url);
    size_t scheme = a->user ? vp_str_find(rest, VP_STR("://")) + 3 : 0;
    vp_buf_init(&whole, FETCH_ASK_MAX);
    vp_buf_str(&whole, vp_str_head(rest, scheme));
    vp_buf_puts(&whole, a->user ? a->user : "");
    vp_buf_str(&whole, vp_str_skip(rest, scheme));
    vp_buf_puts(&whole, a->query ? a->query : "");
    VP_TRY(whole.status);
    vp_pb_put_len(b, FETCH_ASK_URL, vp_buf_view(&whole));
    return 0;
}

int source_ask_put(const source_ask *a, const source_question *q, int *stream)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, FETCH_ASK_MAX);
    vp_pb_put_u64(&b, FETCH_ASK_WHAT, (uint64_t)q->what);
    if (put_asked_url(a, q->url, &b) < 0)
        return vp_fail(VP_ELIMIT, "the address is too long");
    if (q->etag && *q->etag)
        vp_pb_put_len(&b, FETCH_ASK_ETAG, vp_str_of(q->etag));
    if (q->what == FETCH_READ)
        vp_pb_put_u64(&b, FETCH_ASK_OFFSET, (uint64_t)q->offset);
    if ((q->what == FETCH_READ || q->what == FETCH_WRITE) && q->length >= 0)
        vp_pb_put_u64(&b, FETCH_ASK_LENGTH, (uint64_t)q->length);
    if (q->flat)
        vp_pb_put_u64(&b, FETCH_ASK_FLAT, 1);
    if (a->is_unsigned)
        vp_pb_put_u64(&b, FETCH_ASK_UNSIGNED, 1);
    size_t files = q->place_n && q->file >= 0 ? 1 : 0;
    if (files) {
        vp_pb_put_u64(&b, FETCH_ASK_PIECE, q->piece);
        vp_pb_put_len(&b, FETCH_ASK_PLACES,
                      (vp_str){(const char *)q->places, q->place_n * sizeof *q->places});
    }
    return b.status < 0 ? vp_fail(b.status, "the address is too long")
                        : a->ask(a->ctx, vp_buf_view(&b), &q->file, files, stream);
}

static int64_t clamp_to_int64(uint64_t u)
{
    return u > INT64_MAX ? INT64_MAX : (int64_t)u;
}

int source_entry_of(source_entry *out, vp_str message)
{
    vp_pb r = vp_pb_of(message);
    vp_pb_field f;
    int rc;
    *out = (source_entry){.bytes = -1};
    while ((rc = vp_pb_next(&r, &f)) == 1)
        switch (f.number) {
        case FETCH_ENTRY_NAME:
            out->name = f.data;
            break;
        case FETCH_ENTRY_BYTES:
            out->bytes = clamp_to_int64(f.u);
            break;
        case FETCH_ENTRY_MTIME_NS:
            out->mtime_ns = clamp_to_int64(f.u);
            break;
        case FETCH_ENTRY_ETAG:
            out->etag = f.data;
            break;
        case FETCH_ENTRY_IS_DIR:
            out->is_dir = f.u != 0;
            break;
        case FETCH_ENTRY_WHY:
            out->why = f.data;
            break;
        default:
            break;
        }
    return rc < 0 ? vp_fail(VP_ECORRUPT, "invalid answer of view_profile-fetch") : 0;
}

int source_ask_wait(int stream, const _Atomic bool *stop)
{
    struct pollfd wait = {.fd = stream, .events = POLLIN};
    while (!stop || !atomic_load(stop))
        if (poll(&wait, 1, stop ? LOOK_MS : -1) > 0)
            return 0;
    return vp_fail(VP_ECANCELLED, "cancelled");
}

int source_ask_head(const source_ask *a, const char *url, vp_buf *payload, source_entry *out)
{
    VP_CLEANUP(vp_fs_close) int stream = -1;
    const source_question q = {.what = FETCH_HEAD, .url = url};
    fetch_frame kind;
    payload->n = 0;
    VP_TRY(source_ask_put(a, &q, &stream));
    VP_TRY(fetch_next(stream, &kind, payload));
    if (kind != FETCH_INFO)
        return vp_fail(VP_EREMOTE, "no information returned");
    return source_entry_of(out, vp_buf_view(payload));
}
