#include "trace/source/source_write.h"

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/source/fetch_frames.h"

/* Sends the content and its end; an earlier response is read afterwards. */
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

/* data: receives the bytes; NULL: none are expected. */
static int hear_end(int stream, vp_buf *data)
{
    fetch_frame kind = FETCH_DATA;
    while (kind != FETCH_DONE) {
        VP_CLEANUP(vp_buf_free) vp_buf payload;
        vp_buf_init(&payload, FETCH_FRAME_MAX + 2);
        VP_TRY(fetch_next(stream, &kind, &payload));
        if (data && kind == FETCH_DATA)
            VP_TRY(vp_buf_str(data, vp_buf_view(&payload)));
    }
    return 0;
}

int source_write_file(const source_ask *a, const char *url, const char *path)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    VP_CLEANUP(vp_fs_close) int stream = -1;
    VP_CLEANUP(vp_free_ptr) char *piece = vp_malloc(FETCH_FRAME_MAX);
    vp_file_id id;
    bool is_dir;
    VP_NEED(piece);
    VP_TRY(vp_fs_open_user(path, &fd, &is_dir, &id));
    const source_question q = {.what = FETCH_WRITE, .url = url, .length = id.size};
    VP_TRY(source_ask_put(a, &q, &stream));
    VP_TRY(send_file(stream, fd, piece));
    return hear_end(stream, NULL);
}

int source_remove(const source_ask *a, const char *url, const char *etag)
{
    VP_CLEANUP(vp_fs_close) int stream = -1;
    const source_question q = {.what = FETCH_REMOVE, .url = url, .etag = etag};
    VP_TRY(source_ask_put(a, &q, &stream));
    return hear_end(stream, NULL);
}

int source_read_all(const source_ask *a, const char *url, vp_buf *b)
{
    VP_CLEANUP(vp_fs_close) int stream = -1;
    const source_question q = {.what = FETCH_READ, .url = url, .length = -1};
    VP_TRY(source_ask_put(a, &q, &stream));
    return hear_end(stream, b);
}
