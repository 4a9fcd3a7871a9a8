/* Bytes into a live server: libmicrohttpd's parser and ours behind it, with every route on a worker
 * or the loop, over a Unix socket. The first byte says how many pieces the rest is sent in.
 * Whatever is sent, every answer begins like one, the server goes on, and a build for tests ends
 * when an answer lacks what the policy asks (check.c). */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/net/http.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/system/temp_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How long an answer may take before the connection is given up: a request may be unfinished. */
#define WAIT_MS 2

static http_server *server;
static vp_temp_tree tree = VP_TEMP_TREE_NONE;
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static int say(http_req *rq)
{
    vp_buf b;
    vp_buf_init(&b, 64u << 10);
    vp_buf_puts(&b, "<p>");
    for (int i = 0; i < 200; i++)
        vp_buf_puts(&b, http_param(rq, 0) ? http_param(rq, 0) : "nothing ");
    return http_html(rq, 200, &b);
}

static int take(http_req *rq)
{
    vp_buf b;
    vp_buf_init(&b, 64u << 10);
    vp_buf_printf(&b, "{\"bytes\":%zu}", http_body(rq).n);
    return http_json(rq, 200, &b);
}

static int file(http_req *rq)
{
    int fd;
    http_entity e = {.type = "text/plain", .etag = "\"e\"", .mtime_ns = 784111777000000000};
    VP_TRY(vp_fs_temp(&fd));
    VP_TRY(vp_fs_write_all(fd, "0123456789", 10));
    http_keep(rq, 1);
    return http_file(rq, fd, &e);
}

static const http_route routes[] = {
    {HTTP_GET, "/", say, 0},
    {HTTP_GET, "/s/{}/", say, HTTP_SLOW},
    {HTTP_GET, "/f", file, HTTP_SLOW | HTTP_CORS},
    {HTTP_GET | HTTP_POST, "/p", take, HTTP_API},
    {0, NULL, NULL, 0},
};

static void stop(void)
{
    http_stop(server);
    vp_temp_tree_free(&tree);
}

static void start(void)
{
    http_config cfg = {.opts.unix_path = address.sun_path, .routes = routes};
    (void)signal(SIGPIPE, SIG_IGN);
    if (vp_temp_tree_make(&tree, "fuzz_socket") < 0)
        abort();
    snprintf(address.sun_path, sizeof address.sun_path, "%.90s/socket", tree.path);
    if (http_start(&server, &cfg) < 0)
        abort();
    atexit(stop);
}

/* A connection that the server serves, or -1 when it has no more to give. */
static int connect_once(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        abort();
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Reads what there is, at most for WAIT_MS; the first bytes of all go to `begin`. */
static void read_answer(int fd, char begin[9], size_t *have)
{
    char more[4096];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (poll(&p, 1, WAIT_MS) == 1) {
        ssize_t n = recv(fd, more, sizeof more, 0);
        if (n <= 0)
            return;
        for (ssize_t i = 0; i < n && *have < 8; i++)
            begin[(*have)++] = more[i];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char begin[9] = "";
    size_t have = 0;
    if (!server)
        start();
    if (size < 2 || size > 100000)
        return 0;
    size_t pieces = 1 + data[0] % 4, sent = 1;
    int fd = connect_once();
    if (fd < 0)
        return 0;
    for (size_t i = 0; i < pieces; i++) {
        size_t end = i + 1 == pieces ? size : 1 + (size - 1) * (i + 1) / pieces;
        if (send(fd, data + sent, end - sent, 0) < 0)
            break;
        sent = end;
    }
    read_answer(fd, begin, &have);
    close(fd);
    if (have && memcmp(begin, "HTTP/1.", have < 7 ? have : 7) != 0)
        abort();
    return 0;
}
