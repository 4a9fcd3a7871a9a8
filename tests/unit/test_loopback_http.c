/* lb_get against answers of every shape: what TensorBoard sends, and what a hostile or dying
 * program on its port might. */
#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/local/loopback_http.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"

/* `["a"]` as gzip (python3: gzip.compress(b'["a"]', mtime=0)). */
static const unsigned char packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
                                       0x03, 0x8b, 0x56, 0x4a, 0x54, 0x8a, 0x05, 0x00, 0x0c,
                                       0xa4, 0xa7, 0x78, 0x05, 0x00, 0x00, 0x00};

static int decode(const char *head, const void *body, size_t n, int *status, char *out, size_t cap)
{
    char answer[1024];
    size_t head_n = strlen(head);
    memcpy(answer, head, head_n);
    if (n)
        memcpy(answer + head_n, body, n);
    vp_buf b;
    vp_buf_init(&b, 1 << 20);
    int rc = lb_decode(&b, status, (vp_str){answer, head_n + n});
    snprintf(out, cap, "%s", vp_buf_cstr(&b));
    vp_buf_free(&b);
    return rc;
}

#define EXPECT(head, body, want_rc, want_text)                                                     \
    do {                                                                                           \
        char text_[256];                                                                           \
        int status_ = -1;                                                                          \
        assert_int_equal(decode(head, body, sizeof(body) - 1, &status_, text_, sizeof text_),      \
                         want_rc);                                                                 \
        if ((want_rc) == 0)                                                                        \
            assert_string_equal(text_, want_text);                                                 \
        else                                                                                       \
            assert_int_equal(status_, -1);                                                         \
    } while (0)

static void test_plain(void **state)
{
    (void)state;
    EXPECT("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "abc", 0, "abc");
    EXPECT("HTTP/1.0 200 OK\r\n\r\n", "to the end", 0, "to the end");
    EXPECT("HTTP/1.1 200 OK\nContent-Length: 0\n\n", "", 0, "");
    /* Bytes behind the stated length belong to nobody. */
    EXPECT("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", "abc", 0, "ab");
}

static void test_status_is_passed_on(void **state)
{
    (void)state;
    char text[64];
    int status = 0;
    assert_int_equal(decode("HTTP/1.1 404 Not Found\r\n\r\n", "x", 1, &status, text, sizeof text),
                     0);
    assert_int_equal(status, 404);
}

static void test_gzip(void **state)
{
    (void)state;
    char text[64];
    int status;
    const char *head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    assert_int_equal(decode(head, packed, sizeof packed, &status, text, sizeof text), 0);
    assert_string_equal(text, "[\"a\"]");
    /* Cut off, and with one bit of the checksum flipped. */
    assert_true(decode(head, packed, sizeof packed - 3, &status, text, sizeof text) < 0);
    unsigned char bad[sizeof packed];
    memcpy(bad, packed, sizeof bad);
    bad[sizeof bad - 7] ^= 1;
    assert_true(decode(head, bad, sizeof bad, &status, text, sizeof text) < 0);
}

static void test_chunked(void **state)
{
    (void)state;
    const char *head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    EXPECT(head, "3\r\nabc\r\nA;ext=1\r\n0123456789\r\n0\r\n\r\n", 0, "abc0123456789");
    EXPECT(head, "0\r\n\r\n", 0, "");
    EXPECT(head, "5\r\nabc", VP_ECORRUPT, "");
    EXPECT(head, "3\r\nabcdef\r\n0\r\n\r\n", VP_ECORRUPT, "");
    EXPECT(head, "xyz\r\n", VP_ECORRUPT, "");
    EXPECT(head, "ffffffffffffffffff\r\nabc\r\n", VP_ECORRUPT, "");
    EXPECT(head, "3\r\nabc\r\n", VP_ECORRUPT, "");
}

static void test_damaged(void **state)
{
    (void)state;
    EXPECT("", "", VP_EREMOTE, "");
    EXPECT("SSH-2.0-OpenSSH_9.2\r\n", "", VP_EREMOTE, "");
    EXPECT("HTTP/1.1 abc\r\n\r\n", "", VP_EREMOTE, "");
    EXPECT("HTTP/1.1 200 OK\r\nno colon\r\n", "", VP_ECORRUPT, "");
    EXPECT("HTTP/1.1 200 OK\r\nA: b\r\n", "", VP_ECORRUPT, "");
    EXPECT("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "abc", VP_ECORRUPT, "");
    EXPECT("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "abc", VP_ELIMIT, "");
    EXPECT("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "abc", VP_ELIMIT, "");
    EXPECT("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n", "abc", VP_EUNSUPPORTED, "");
}

/* ---- Over a socket --------------------------------------------------------------------------- */

typedef struct peer {
    int fd, port;
    const char *answer; /* NULL: says nothing and keeps the line open */
    size_t repeat;
    char asked[1024];
    pthread_t thread;
} peer;

static void *serve(void *arg)
{
    peer *p = arg;
    int c = accept(p->fd, NULL, NULL);
    if (c < 0)
        return NULL;
    ssize_t n = recv(c, p->asked, sizeof p->asked - 1, 0);
    p->asked[n > 0 ? n : 0] = '\0';
    for (size_t i = 0; p->answer && i < p->repeat; i++)
        if (send(c, p->answer, strlen(p->answer), MSG_NOSIGNAL) < 0)
            break;
    if (!p->answer)
        n = recv(c, p->asked, 1, 0);
    close(c);
    return NULL;
}

static void peer_start(peer *p, const char *answer, size_t repeat)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    *p = (peer){.answer = answer, .repeat = repeat};
    int on = 1; /* as every HTTP server does */
    p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(setsockopt(p->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    assert_int_equal(bind(p->fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(p->fd, 1), 0);
    assert_int_equal(getsockname(p->fd, (struct sockaddr *)&a, &n), 0);
    p->port = ntohs(a.sin_port);
    assert_int_equal(pthread_create(&p->thread, NULL, serve, p), 0);
}

static void peer_end(peer *p)
{
    pthread_join(p->thread, NULL);
    close(p->fd);
}

static void test_asks_politely(void **state)
{
    (void)state;
    peer p;
    vp_buf b;
    int status;
    vp_buf_init(&b, 100);
    peer_start(&p, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n2.24.2", 1);
    assert_int_equal(lb_get(&b, &status, p.port, "/data/x", 2000), 0);
    assert_int_equal(status, 200);
    assert_string_equal(vp_buf_cstr(&b), "2.24.2");
    peer_end(&p);
    char host[64];
    snprintf(host, sizeof host, "\r\nHost: 127.0.0.1:%d\r\n", p.port);
    assert_non_null(strstr(p.asked, "GET /data/x HTTP/1.1\r\n"));
    assert_non_null(strstr(p.asked, host));
    assert_non_null(strstr(p.asked, "\r\nConnection: close\r\n"));
    vp_buf_free(&b);
}

static void test_silent_peer_times_out(void **state)
{
    (void)state;
    peer p;
    vp_buf b;
    int status;
    vp_buf_init(&b, 100);
    peer_start(&p, NULL, 0);
    assert_int_equal(lb_get(&b, &status, p.port, "/", 50), VP_EREMOTE);
    peer_end(&p);
    vp_buf_free(&b);
}

static void test_endless_peer_is_cut(void **state)
{
    (void)state;
    peer p;
    vp_buf b;
    int status;
    vp_buf_init(&b, VP_LOCAL_ANSWER_MAX);
    peer_start(&p, "HTTP/1.1 200 OK\r\nX: 0123456789012345678901234567890123456789\r\n",
               VP_LOCAL_ANSWER_MAX / 16);
    assert_int_equal(lb_get(&b, &status, p.port, "/", 20000), VP_ELIMIT);
    peer_end(&p);
    vp_buf_free(&b);
}

static void test_nobody_there(void **state)
{
    (void)state;
    peer p;
    vp_buf b;
    int status;
    vp_buf_init(&b, 100);
    peer_start(&p, "", 1);
    assert_false(lb_port_is_free(p.port));
    lb_get(&b, &status, p.port, "/", 2000);
    peer_end(&p);
    assert_true(lb_port_is_free(p.port));
    assert_int_equal(lb_get(&b, &status, p.port, "/", 2000), VP_EREMOTE);
    assert_int_equal(lb_get(&b, &status, 0, "/", 2000), VP_EARG);
    assert_int_equal(lb_get(&b, &status, 65536, "/", 2000), VP_EARG);
    vp_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_status_is_passed_on),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_chunked),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_asks_politely),
        cmocka_unit_test(test_silent_peer_times_out),
        cmocka_unit_test(test_endless_peer_is_cut),
        cmocka_unit_test(test_nobody_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
