/* Handles FETCH_READ: bytes of one version of an object. A broken connection is resumed at the same
 * offset. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/fetch/http/http_fail.h"
#include "server/fetch/store/fetch_store.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/pb.h"

/* Maximum of bytes that are skipped if a server does not support ranges. */
#define SKIP_MAX (INT64_C(256) << 20)
/* Interval of progress reports on the file: each one wakes the client. */
#define PROGRESS_BYTES (512u << 10)
/* Maximum of consecutive failures without progress. */
#define BREAKS_MAX 5u

typedef struct reading {
    fetch_ask *a;
    const store *store;
    store_place *place;
    http_call call;
    char etag[256]; /* the version that is read; empty: not known yet, or the server sends none */
    int64_t total, mtime_ns; /* size of the object; -1: not known yet */
    int64_t at, end;         /* the next byte to send; -1: all */
    int64_t skip;            /* bytes before it in this response */
    bool is_judged;          /* this answer */
    bool is_full;            /* the client needs no more data */
    bool is_told;            /* INFO was sent */
    uint64_t placed, said;   /* bytes in the file of the request; as reported last */
    vp_buf out;              /* or data to be sent as DATA */
} reading;

/* A stalled client must not block other transfers. */
static int send_data_frame(void *ctx, const void *data, size_t n)
{
    reading *r = ctx;
    struct pollfd p = {r->a->stream, POLLOUT, 0};
    bool waits = r->call.origin && poll(&p, 1, 0) == 0;
    if (waits)
        http_pool_step_aside(r->call.origin);
    int rc = fetch_put(r->a->stream, FETCH_DATA, (vp_str){data, n});
    if (waits)
        http_pool_step_back(r->call.origin);
    return rc;
}

static int put_placed_progress(reading *r)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, 64);
    r->said = r->placed;
    vp_pb_put_u64(&b, FETCH_PROGRESS_BYTES, r->placed);
    return b.status < 0 ? b.status : fetch_put(r->a->stream, FETCH_PROGRESS, vp_buf_view(&b));
}

static int place_bytes_in_file(reading *r, vp_str s)
{
    const fetch_ask *a = r->a;
    while (s.n) {
        uint64_t nth = r->placed / a->piece, in = r->placed % a->piece, at, left = a->piece - in;
        if (nth >= a->places.n / sizeof at)
            return vp_fail(VP_EARG, "invalid request: too few offsets");
        memcpy(&at, a->places.p + nth * sizeof at, sizeof at);
        size_t n = s.n < left ? s.n : (size_t)left;
        if (at > INT64_MAX - a->piece)
            return vp_fail(VP_EARG, "invalid request: offset out of range");
        VP_TRY(vp_fs_pwrite_all(a->files[0], s.p, n, (int64_t)(at + in)));
        r->placed += n;
        s = vp_str_skip(s, n);
        if (n == left && r->placed - r->said >= PROGRESS_BYTES)
            VP_TRY(put_placed_progress(r));
    }
    return 0;
}

static int put_read_bytes(reading *r, vp_str s)
{
    return r->a->file_n ? place_bytes_in_file(r, s) : vp_buf_str(&r->out, s);
}

static int flush_reading(reading *r)
{
    return r->a->file_n ? put_placed_progress(r) : vp_buf_flush(&r->out);
}

static int fail_changed_while_read(void)
{
    return vp_fail(VP_EIO, "changed while being read");
}

static int pin_object_version(reading *r)
{
    const http_call *c = &r->call;
    vp_str version = r->store->version(c);
    int64_t total = c->status == 206 ? c->total : c->length;
    if (r->etag[0] && version.n && !vp_str_eq(vp_str_of(r->etag), version))
        return fail_changed_while_read();
    if ((r->total >= 0 && total >= 0 && r->total != total) ||
        (r->mtime_ns && c->mtime_ns && r->mtime_ns != c->mtime_ns))
        return fail_changed_while_read();
    if (!r->etag[0])
        snprintf(r->etag, sizeof r->etag, "%.*s", VP_STR_CUT(version, sizeof r->etag - 1));
    r->total = total >= 0 ? total : r->total;
    r->mtime_ns = c->mtime_ns ? c->mtime_ns : r->mtime_ns;
    return 0;
}

static int put_info(reading *r)
{
    if (r->is_told)
        return 0;
    r->is_told = true;
    return entry_put_info(
        r->a->stream,
        &(entry){.bytes = r->total, .mtime_ns = r->mtime_ns, .etag = vp_str_of(r->etag)});
}

/* Before the first byte of a response: checks that it has the requested range. */
static int check_read_answer(reading *r)
{
    r->is_judged = true;
    VP_TRY(pin_object_version(r));
    if (r->call.status == 206 && r->call.first != r->at)
        return vp_fail(VP_ECORRUPT, "the server returned a different byte range than requested");
    r->skip = r->call.status == 206 ? 0 : r->at;
    if (r->skip > SKIP_MAX)
        return vp_fail(VP_EUNSUPPORTED, "the server does not support range requests");
    return put_info(r);
}

static int take_read_body(void *ctx, const void *data, size_t n)
{
    reading *r = ctx;
    vp_str s = {data, n};
    if (!r->is_judged)
        VP_TRY(check_read_answer(r));
    size_t skip = r->skip < (int64_t)s.n ? (size_t)r->skip : s.n;
    r->skip -= (int64_t)skip;
    s = vp_str_skip(s, skip);
    if (r->end >= 0 && (int64_t)s.n > r->end - r->at)
        s.n = (size_t)(r->end - r->at);
    r->at += (int64_t)s.n;
    VP_TRY(put_read_bytes(r, s));
    r->is_full = r->end >= 0 && r->at == r->end;
    /* The rest of the response is not needed: drops the connection. */
    return r->is_full && r->call.status != 206 ? VP_ECANCELLED : 0;
}

static int set_range(reading *r)
{
    if (r->end >= 0)
        return http_put_header(&r->call, "Range: bytes=%lld-%lld", (long long)r->at,
                               (long long)r->end - 1);
    return r->at ? http_put_header(&r->call, "Range: bytes=%lld-", (long long)r->at) : 0;
}

/* No data at this offset: for a reader, the end. */
static int check_end_of_object(reading *r)
{
    if (r->is_told && r->total >= 0 && r->at < r->total)
        return fail_changed_while_read();
    r->total = r->call.total >= 0 ? r->call.total : r->total;
    return put_info(r);
}

static int read_verdict(reading *r, int rc)
{
    const http_call *c = &r->call;
    if (r->is_full)
        return 0;
    VP_TRY(rc);
    if (c->status == 416)
        return check_end_of_object(r);
    if (c->status == 404 && r->is_told)
        return vp_fail(VP_ENOTFOUND, "deleted while being read");
    if (c->status < 200 || c->status >= 300)
        return http_failure(&r->call);
    if (!r->is_judged)
        VP_TRY(check_read_answer(r));
    int64_t end = r->end >= 0 && (r->total < 0 || r->end < r->total) ? r->end : r->total;
    return end < 0 || r->at >= end
               ? 0
               : vp_fail(VP_EREMOTE, "the connection was closed %lld bytes too early",
                         (long long)(end - r->at));
}

/* One request for the remaining bytes. *breaks: it may be retried. */
static int read_on(reading *r, bool *breaks)
{
    r->is_judged = false;
    int rc = r->store->get(r->a, r->place, vp_str_of(r->etag), &r->call);
    if (rc == 0) {
        r->call.write = take_read_body;
        r->call.ctx = r;
        rc = set_range(r);
    }
    if (rc == 0)
        rc = read_verdict(r, http_perform(&r->call));
    *breaks = http_may_go_on(&r->call, rc) && r->call.written > 0;
    http_end(&r->call);
    return rc;
}

static int read_all_ranges(reading *r)
{
    unsigned breaks = 0;
    bool may;
    for (;;) {
        int64_t before = r->at;
        int rc = read_on(r, &may);
        if (rc == 0 || !may)
            return rc;
        breaks = r->at > before ? 0 : breaks + 1;
        if (breaks == BREAKS_MAX)
            return rc;
        (void)nanosleep(&(struct timespec){0, 200000000}, NULL);
    }
}

int fetch_answer_read(fetch_ask *a)
{
    reading r = {.a = a, .total = -1, .at = a->offset, .end = -1};
    if (a->length == 0)
        return fetch_answer_head(a);
    if (a->length > 0)
        r.end = a->length > INT64_MAX - a->offset ? INT64_MAX : a->offset + a->length;
    if (a->file_n && (!a->piece || a->piece > INT64_MAX))
        return vp_fail(VP_EARG, "invalid request: no offsets");
    if (a->etag.n >= sizeof r.etag)
        return vp_fail(VP_EARG, "ETag too long: %zu bytes", a->etag.n);
    snprintf(r.etag, sizeof r.etag, "%.*s", VP_STR_ARG(a->etag));
    VP_TRY(store_find(a->url, &r.store));
    vp_buf_init_stream(&r.out, send_data_frame, &r);
    int rc = r.store->open(a, &r.place);
    if (rc == 0)
        rc = read_all_ranges(&r);
    if (rc == 0)
        rc = flush_reading(&r);
    vp_buf_free(&r.out);
    r.store->close(r.place);
    return rc;
}
