#include "server/fetch/question/pieces.h"

#include "trace/base/err.h"

int piece_next(fetch_ask *a, size_t n, vp_buf *out, bool *is_last)
{
    fetch_frame kind;
    size_t bytes;
    *is_last = false;
    while (out->n < n) {
        VP_TRY(fetch_head(a->stream, &kind, &bytes));
        if (kind == FETCH_END) {
            *is_last = true;
            return 0;
        }
        if (kind != FETCH_DATA)
            return vp_fail(VP_EARG, "invalid write request");
        char *room = vp_buf_reserve(out, bytes + 1);
        if (!room)
            return vp_fail(out->status, "out of memory for an upload");
        VP_TRY(fetch_take(a->stream, room, bytes));
        out->n += bytes;
    }
    return 0;
}
