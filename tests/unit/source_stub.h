/* A stub of view_profile-fetch: answers requests for remote objects from a table, each on its own
 * thread. */
#ifndef VP_TESTS_SOURCE_STUB_H
#define VP_TESTS_SOURCE_STUB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/pb.h"
#include "trace/source/fetch_frames.h"
#include "trace/source/source_ask.h"

/* An object of the stub: byte i of it is stub_byte(seed, i). */
typedef struct stub_object {
    const char *name; /* after the requested address; a '/' in it only in flat lists */
    size_t name_n;    /* 0: strlen */
    const char *etag;
    int64_t bytes, mtime_ns;
    bool is_dir;
} stub_object;

typedef enum stub_fault {
    STUB_FINE,
    STUB_CHANGES, /* its version changes at the second READ */
    STUB_CUT,     /* a READ ends in the middle */
    STUB_STALLS,  /* a READ gets no answer */
    STUB_FAILS,   /* a READ fails */
    STUB_WAITS    /* a READ sends no data before the next request, or for 2 s */
} stub_fault;

typedef struct stub {
    const stub_object *objects; /* of every directory; HEAD and READ use the first */
    size_t n;
    stub_fault fault;
    bool frames;            /* ignores the file of a request */
    _Atomic int64_t served; /* bytes */
    _Atomic int reads, lists, threads;
    atomic_bool alone; /* a READ timed out */
} stub;

static inline unsigned char stub_byte(int64_t i)
{
    return (unsigned char)(i ^ i >> 9 ^ i >> 17);
}

static inline void stub_put_entry(vp_buf *b, const stub_object *o, const char *etag)
{
    vp_pb_put_len(b, FETCH_ENTRY_NAME, (vp_str){o->name, o->name_n ? o->name_n : strlen(o->name)});
    if (o->is_dir) {
        vp_pb_put_u64(b, FETCH_ENTRY_IS_DIR, 1);
        return;
    }
    vp_pb_put_u64(b, FETCH_ENTRY_BYTES, (uint64_t)o->bytes);
    vp_pb_put_u64(b, FETCH_ENTRY_MTIME_NS, (uint64_t)o->mtime_ns);
    if (etag)
        vp_pb_put_len(b, FETCH_ENTRY_ETAG, vp_str_of(etag));
}

typedef struct stub_question {
    stub *s;
    int stream;
    int file; /* -1: none */
    uint64_t what, offset, length, piece, places[128];
} stub_question;

/* Sends the bytes from `at` on: writes them into the file, and reports progress. */
static inline int stub_place(const stub_question *q, uint64_t at, const char *p, size_t n)
{
    char b[16];
    uint64_t end = at + n;
    for (size_t part; at < end; at += part, p += part) {
        part = q->piece - at % q->piece < end - at ? q->piece - at % q->piece : end - at;
        if (pwrite(q->file, p, part, (off_t)(q->places[at / q->piece] + at % q->piece)) < 0)
            return vp_fail(VP_EIO, "it cannot be written");
    }
    vp_buf payload = {.p = b, .cap = sizeof b, .max = sizeof b};
    vp_pb_put_u64(&payload, FETCH_PROGRESS_BYTES, end);
    return fetch_put(q->stream, FETCH_PROGRESS, vp_buf_view(&payload));
}

static inline int stub_data(const stub_question *q)
{
    static _Thread_local char piece[256 << 10];
    uint64_t at = q->offset, end = q->offset + q->length;
    if (q->s->fault == STUB_CUT)
        end -= q->length / 2;
    for (int ms = 0; q->s->fault == STUB_WAITS && atomic_load(&q->s->reads) < 2; ms++) {
        if (ms == 2000) {
            atomic_store(&q->s->alone, true);
            break;
        }
        usleep(1000);
    }
    while (at < end) {
        size_t n = end - at < sizeof piece ? (size_t)(end - at) : sizeof piece;
        for (size_t i = 0; i < n; i++)
            piece[i] = (char)stub_byte((int64_t)(at + i));
        VP_TRY(q->file < 0 ? fetch_put(q->stream, FETCH_DATA, (vp_str){piece, n})
                           : stub_place(q, at - q->offset, piece, n));
        atomic_fetch_add(&q->s->served, (int64_t)n);
        at += n;
    }
    return 0;
}

static inline int stub_read(const stub_question *q)
{
    vp_buf b;
    const stub_object *o = q->s->objects;
    char c;
    int nth = atomic_fetch_add(&q->s->reads, 1);
    if (q->s->fault == STUB_STALLS)
        return (int)recv(q->stream, &c, 1, 0) * 0 + VP_ECANCELLED;
    if (q->s->fault == STUB_FAILS)
        return vp_fail(VP_EPERM, "it is forbidden");
    vp_buf_init(&b, 1 << 20);
    stub_put_entry(&b, o, q->s->fault == STUB_CHANGES && nth ? "other" : o->etag);
    int rc = fetch_put(q->stream, FETCH_INFO, vp_buf_view(&b));
    vp_buf_free(&b);
    return rc < 0 ? rc : stub_data(q);
}

static inline int stub_list(const stub_question *q)
{
    vp_buf b, one;
    int rc = 0;
    vp_buf_init(&b, 1 << 20);
    atomic_fetch_add(&q->s->lists, 1);
    for (size_t i = 0; rc >= 0 && i <= q->s->n; i++) {
        if (i == q->s->n || b.n > FETCH_FRAME_MAX / 2) {
            rc = fetch_put(q->stream, FETCH_ENTRIES, vp_buf_view(&b));
            b.n = 0;
        }
        if (i == q->s->n)
            break;
        vp_buf_init(&one, 1 << 16);
        stub_put_entry(&one, &q->s->objects[i], q->s->objects[i].etag);
        vp_pb_put_len(&b, FETCH_ENTRIES_ONE, vp_buf_view(&one));
        vp_buf_free(&one);
    }
    vp_buf_free(&b);
    return rc;
}

static inline void *stub_answer(void *arg)
{
    stub_question *q = arg;
    int rc = q->what == FETCH_READ   ? stub_read(q)
             : q->what == FETCH_LIST ? stub_list(q)
                                     : vp_fail(VP_ENOTFOUND, "there is none");
    if (rc < 0)
        (void)fetch_put_failure(q->stream, rc, 0);
    else
        (void)fetch_put(q->stream, FETCH_DONE, (vp_str){0});
    close(q->stream);
    if (q->file >= 0)
        close(q->file);
    atomic_fetch_sub(&q->s->threads, 1);
    free(q);
    return NULL;
}

static inline int stub_ask(void *ctx, vp_str question, const int *files, size_t n, int *stream)
{
    int ends[2];
    pthread_t thread;
    vp_pb r = vp_pb_of(question);
    vp_pb_field f;
    stub_question *q = calloc(1, sizeof *q);
    q->s = ctx;
    while (vp_pb_next(&r, &f) == 1) {
        q->what = f.number == FETCH_ASK_WHAT ? f.u : q->what;
        q->offset = f.number == FETCH_ASK_OFFSET ? f.u : q->offset;
        q->length = f.number == FETCH_ASK_LENGTH ? f.u : q->length;
        q->piece = f.number == FETCH_ASK_PIECE ? f.u : q->piece;
        if (f.number == FETCH_ASK_PLACES && f.data.n <= sizeof q->places)
            memcpy(q->places, f.data.p, f.data.n);
    }
    q->file = n && !q->s->frames ? dup(files[0]) : -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return vp_fail(VP_EIO, "no sockets");
    q->stream = ends[1];
    atomic_fetch_add(&q->s->threads, 1);
    if (pthread_create(&thread, NULL, stub_answer, q))
        return vp_fail(VP_EIO, "no thread");
    pthread_detach(thread);
    *stream = ends[0];
    return 0;
}

/* Waits until all answers have ended. */
static inline void stub_end(stub *s)
{
    while (atomic_load(&s->threads))
        usleep(1000);
}

#endif
