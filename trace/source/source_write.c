#include "server/cli/profile_upload.h"

#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/source/fetch_frames.h"

/* The content and its end; an answer that comes before is heard afterwards. */
static int send_file(int stream, int fd, char *piece)
{
    int64_t at = 0;
    size_t got;
    do {
        VP_TRY(vp_fs_pread(fd, piece, FETCH_FRAME_MAX, at, &got));
        if (got && fetch_put(stream, FETCH_DATA, (vp_str){piece, got}) < 0)
            return 0;
        at += (int64_t)got;
    } while (got);
    (void)fetch_put(stream, FETCH_END, VP_STR_NONE);
    return 0;
}

static int hear_end(int stream)
{
    fetch_frame kind = FETCH_DATA;
    int rc = 0;
    while (rc >= 0 && kind != FETCH_DONE) {
        VP_CLEANUP(vp_buf_free) vp_buf payload;
        vp_buf_init(&payload, FETCH_FRAME_MAX + 2);
        rc = fetch_next(stream, &kind, &payload);
    }
    return rc;
}

int profile_upload(fetcher *f, const char *path, const char *url, bool is_unsigned)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    VP_CLEANUP(vp_fs_close) int stream = -1;
    VP_CLEANUP(vp_free_ptr) char *piece = vp_malloc(FETCH_FRAME_MAX);
    VP_CLEANUP(vp_buf_free) vp_buf question;
    vp_file_id id;
    bool is_dir;
    vp_buf_init(&question, FETCH_ASK_MAX);
    VP_NEED(piece);
    VP_TRY(vp_fs_open_user(path, &fd, &is_dir, &id));
    vp_pb_put_u64(&question, FETCH_ASK_WHAT, FETCH_WRITE);
    vp_pb_put_len(&question, FETCH_ASK_URL, vp_str_of(url));
    vp_pb_put_u64(&question, FETCH_ASK_LENGTH, (uint64_t)id.size);
    if (is_unsigned)
        vp_pb_put_u64(&question, FETCH_ASK_UNSIGNED, 1);
    VP_TRY(question.status);
    VP_TRY(fetcher_ask(f, vp_buf_view(&question), NULL, 0, &stream));
    VP_TRY(send_file(stream, fd, piece));
    return hear_end(stream);
}
