#include "server/cli/capture/profile_page.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/net/connection/listen.h"
#include "server/local/served.h"
#include "trace/base/log.h"
#include "trace/base/str.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool is_free_port(int port)
{
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return true;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bool fine = bind(fd, (const struct sockaddr *)&at, sizeof at) == 0;
    close(fd);
    return fine;
}

/* The port that `serve` will use: the first free one. */
static int next_port(void)
{
    for (int port = HTTP_FIRST_PORT; port <= HTTP_FIRST_PORT + HTTP_MORE_PORTS; port++)
        if (is_free_port(port))
            return port;
    return HTTP_FIRST_PORT;
}

/* Quotes a word for a shell. */
static void put_shell_word(vp_buf *b, const char *word)
{
    if (!word[strspn(word, LETTERS "/._-")]) {
        vp_buf_puts(b, word);
        return;
    }
    vp_buf_putc(b, '\'');
    for (vp_str s = vp_str_of(word); s.n;) {
        size_t n = vp_str_find(s, VP_STR("'"));
        vp_put_escaped(b, vp_str_head(s, n));
        s = vp_str_skip(s, n);
        if (s.n) {
            vp_buf_puts(b, "'\\''");
            s = vp_str_skip(s, 1);
        }
    }
    vp_buf_putc(b, '\'');
}

/* Only for simple names; runs with other names are linked from the index. */
static void put_session_path(vp_buf *b, const char *run)
{
    if (*run != '.' && !run[strspn(run, LETTERS "._-")])
        vp_buf_printf(b, "session/%s/", run);
}

void profile_page_put(vp_buf *b, const char *out, const char *run)
{
    char url[VP_PATH_MAX];
    bool exact;
    vp_buf_puts(b, "page: ");
    if (served_find(url, out, &exact)) {
        vp_buf_puts(b, url);
        if (exact)
            put_session_path(b, run);
    } else {
        vp_buf_puts(b, "view_profile serve --profile-dir ");
        put_shell_word(b, out);
        vp_buf_printf(b, ", then http://127.0.0.1:%d/", next_port());
        put_session_path(b, run);
    }
    vp_buf_putc(b, '\n');
}
