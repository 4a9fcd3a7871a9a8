/* main() of view_profile-fetch: reads requests from descriptor 3 and starts a thread for each. When
 * started by hand it prints what it is. */
#include <curl/curl.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/fetch/question/fetch_answer.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/base/system/sandbox.h"

#define CONTROL 3

typedef struct question {
    fetch_ask ask;
    char text[FETCH_ASK_MAX];
} question;

/* ---- One question ---------------------------------------------------------------------------- */

/* Buffer for bytes that are read. */
static void parse_reading(fetch_ask *a, const vp_pb_field *f)
{
    int64_t number = f->u <= INT64_MAX ? (int64_t)f->u : INT64_MAX;
    switch (f->number) {
    case FETCH_ASK_OFFSET:
        a->offset = number;
        break;
    case FETCH_ASK_LENGTH:
        a->length = number;
        break;
    case FETCH_ASK_PLACES:
        a->places = f->data;
        break;
    case FETCH_ASK_PIECE:
        a->piece = f->u;
        break;
    default:
        break;
    }
}

static int parse_question(fetch_ask *a, vp_str text)
{
    vp_pb r = vp_pb_of(text);
    vp_pb_field f;
    int rc;
    a->length = -1;
    while ((rc = vp_pb_next(&r, &f)) == 1)
        switch (f.number) {
        case FETCH_ASK_WHAT:
            a->what = f.u < FETCH_QUESTION_COUNT ? (fetch_question)f.u : FETCH_NO_QUESTION;
            break;
        case FETCH_ASK_URL:
            a->url = f.data;
            break;
        case FETCH_ASK_ETAG:
            a->etag = f.data;
            break;
        case FETCH_ASK_FLAT:
            a->flat = f.u != 0;
            break;
        case FETCH_ASK_UNSIGNED:
            a->is_unsigned = f.u != 0;
            break;
        case FETCH_ASK_BODY:
            a->body = f.data;
            break;
        default:
            parse_reading(a, &f);
            break;
        }
    return rc < 0 || a->what == FETCH_NO_QUESTION ? vp_fail(VP_EARG, "invalid request") : 0;
}

static int answer_question(fetch_ask *a)
{
    switch (a->what) {
#define FETCH_CASE(name, fn)                                                                       \
    case FETCH_##name:                                                                             \
        return fetch_answer_##fn(a);
        FETCH_QUESTIONS(FETCH_CASE)
#undef FETCH_CASE
    default:
        return vp_fail(VP_EARG, "invalid request");
    }
}

static void *question_thread(void *arg)
{
    question *q = arg;
    int rc = answer_question(&q->ask);
    if (rc < 0)
        (void)fetch_put_failure(q->ask.stream, rc, q->ask.status);
    else
        (void)fetch_put(q->ask.stream, FETCH_DONE, (vp_str){0});
    close(q->ask.stream);
    for (size_t i = 0; i < q->ask.file_n; i++)
        close(q->ask.files[i]);
    vp_free(q);
    return NULL;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* The descriptors of a message; the first is the stream. */
static size_t take_message_files(struct msghdr *m, int *fds, size_t max)
{
    size_t n = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (n < max)
                fds[n++] = fd;
            else
                close(fd);
        }
    }
    return n;
}

/* 1: a request was received; 0: the client has disconnected. */
static int hear_question(question *q, size_t *bytes)
{
    int fds[1 + FETCH_FILES_MAX];
    union {
        char bytes[CMSG_SPACE(sizeof fds)];
        struct cmsghdr align;
    } u;
    struct iovec v = {q->text, sizeof q->text};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = u.bytes, .msg_controllen = sizeof u.bytes};
    ssize_t got;
    do
        got = recvmsg(CONTROL, &m, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return 0;
    size_t n = take_message_files(&m, fds, 1 + FETCH_FILES_MAX);
    q->ask.stream = n ? fds[0] : -1;
    q->ask.file_n = n ? n - 1 : 0;
    for (size_t i = 1; i < n; i++)
        q->ask.files[i - 1] = fds[i];
    *bytes = (size_t)got;
    return 1;
}

static void begin_question(question *q, size_t bytes)
{
    pthread_t thread;
    int rc = q->ask.stream < 0 ? VP_EARG : parse_question(&q->ask, (vp_str){q->text, bytes});
    if (rc == 0 && pthread_create(&thread, NULL, question_thread, q) == 0) {
        (void)pthread_detach(thread);
        return;
    }
    if (q->ask.stream >= 0) {
        if (rc == 0)
            rc = vp_fail(VP_EIO, "cannot start a thread");
        (void)fetch_put_failure(q->ask.stream, rc, 0);
        close(q->ask.stream);
    }
    for (size_t i = 0; i < q->ask.file_n; i++)
        close(q->ask.files[i]);
    vp_free(q);
}

int main(void)
{
    int type;
    socklen_t n = sizeof type;
    if (getsockopt(CONTROL, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || type != SOCK_SEQPACKET) {
        fputs("view_profile: this program is started by view_profile to read gs://, s3://, az:// "
              "and http(s):// addresses and to capture\n",
              stderr);
        return 2;
    }
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#ifndef __SANITIZE_ADDRESS__                  /* LeakSanitizer needs ptrace */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* no core dump with credentials, no debugger */
#endif
    (void)signal(SIGPIPE, SIG_IGN); /* a server may disconnect while OpenSSL writes */
    (void)signal(SIGXFSZ, SIG_IGN); /* a file at its size limit is an error of one request */
    /* The process only writes to descriptors that come with requests. */
    (void)sandbox_enter(NULL, 0, false);
    /* Threads may still run after the client disconnected, so OpenSSL is not cleaned up before the
     * exit. */
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return 1;
    for (;;) {
        question *q = vp_calloc(1, sizeof *q);
        size_t bytes;
        if (!q || hear_question(q, &bytes) != 1) {
            vp_free(q);
            return q ? 0 : 1;
        }
        begin_question(q, bytes);
    }
}
