#include "server/fetch/question/entries.h"

#include "server/fetch/text/url.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/pb.h"
#include "trace/source/fetch_frames.h"

#define FRAME_FULL (48u << 10)

void entries_begin(entries *e, int stream)
{
    *e = (entries){.stream = stream};
    vp_buf_init(&e->frame, FETCH_FRAME_MAX);
}

void entries_free(entries *e)
{
    vp_buf_free(&e->frame);
}

static int entries_flush(entries *e)
{
    VP_TRY(e->frame.status);
    int rc = e->frame.n ? fetch_put(e->stream, FETCH_ENTRIES, vp_buf_view(&e->frame)) : 0;
    e->frame.n = 0;
    return rc;
}

static void put_fields(vp_buf *b, const entry *one)
{
    if (one->name.n)
        vp_pb_put_len(b, FETCH_ENTRY_NAME, one->name);
    if (one->bytes >= 0)
        vp_pb_put_u64(b, FETCH_ENTRY_BYTES, (uint64_t)one->bytes);
    if (one->mtime_ns > 0)
        vp_pb_put_u64(b, FETCH_ENTRY_MTIME_NS, (uint64_t)one->mtime_ns);
    if (one->etag.n)
        vp_pb_put_len(b, FETCH_ENTRY_ETAG, one->etag);
    if (one->is_dir)
        vp_pb_put_u64(b, FETCH_ENTRY_IS_DIR, 1);
}

static int put_one(entries *e, const vp_buf *fields)
{
    VP_TRY(fields->status);
    vp_pb_put_len(&e->frame, FETCH_ENTRIES_ONE, vp_buf_view(fields));
    return e->frame.n >= FRAME_FULL ? entries_flush(e) : e->frame.status;
}

int entries_put(entries *e, const entry *one)
{
    const char *fault = url_name_fault(one->name);
    if (fault) {
        e->fault = e->fault ? e->fault : fault;
        e->refused++;
        return 0;
    }
    if (++e->told > VP_WALK_ENTRIES_MAX)
        return vp_fail(VP_ELIMIT, "more than %u objects; give a directory further down",
                       VP_WALK_ENTRIES_MAX);
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, 4 * VP_MEMBER_NAME_MAX);
    put_fields(&b, one);
    return put_one(e, &b);
}

int entries_end(entries *e)
{
    if (e->refused) {
        VP_CLEANUP(vp_buf_free) vp_buf text, b;
        vp_buf_init(&text, 256);
        vp_buf_init(&b, 512);
        vp_buf_printf(&text, "%llu name%s skipped: %s", (unsigned long long)e->refused,
                      e->refused == 1 ? " was" : "s were", e->fault);
        vp_pb_put_len(&b, FETCH_ENTRY_WHY, vp_buf_view(&text));
        VP_TRY(put_one(e, &b));
    }
    return entries_flush(e);
}

int entry_put_info(int stream, const entry *one)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, 4 * VP_MEMBER_NAME_MAX);
    put_fields(&b, one);
    VP_TRY(b.status);
    return fetch_put(stream, FETCH_INFO, vp_buf_view(&b));
}
