#include "server/local/browser.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

#define ARGS_MAX 16
#define COMMAND_MAX 1024

extern char **environ;

bool browser_is_remote(void)
{
    const char *ssh = getenv("SSH_CONNECTION"), *named = getenv("BROWSER");
    return ssh && ssh[0] && !(named && named[0]);
}

/* SSH_CONNECTION is "client-address client-port server-address server-port". */
static vp_str ssh_port(void)
{
    vp_str all = vp_str_of(getenv("SSH_CONNECTION"));
    size_t at = vp_str_rfind_char(all, ' ');
    return at < all.n ? vp_str_skip(all, at + 1) : VP_STR("22");
}

int browser_ssh_line(vp_buf *b, uint16_t port, uint16_t second)
{
    char host[256] = "";
    const char *user = getenv("USER");
    vp_str at = ssh_port();
    uint64_t number;
    if (gethostname(host, sizeof host - 1) < 0 || !host[0])
        memcpy(host, "HOST", 5);
    vp_buf_puts(b, "ssh -N ");
    if (vp_str_to_u64(at, &number) && number != 22 && number <= UINT16_MAX)
        vp_buf_printf(b, "-p %u ", (unsigned)number);
    vp_buf_printf(b, "-L %u:localhost:%u ", port, port);
    if (second)
        vp_buf_printf(b, "-L %u:localhost:%u ", second, second);
    return vp_buf_printf(b, "%s%s%s", user ? user : "", user ? "@" : "", host);
}

int browser_path(vp_buf *b, browser_view view, const char *id)
{
    static const char *const before[] = {"", "session/", "perfetto/", "tensorboard/"};
    vp_buf_printf(b, "%s%s%s", before[view], id, view == BROWSER_SESSION ? "/" : "");
    return b->status;
}

static bool holds_only(const char *text, size_t cap, const char *more)
{
    size_t n = strnlen(text, cap);
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        bool alnum = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        if (!alnum && !strchr(more, c))
            return false;
    }
    return n < cap;
}

int browser_url(vp_buf *b, const browser_page *p)
{
    static const struct in6_addr v6_loopback = IN6ADDR_LOOPBACK_INIT;
    struct in_addr v4;
    struct in6_addr v6;
    bool is_v4, is_v6;
    if (!holds_only(p->host, sizeof p->host, ".:") ||
        !holds_only(p->prefix, sizeof p->prefix, "/-._~") ||
        !holds_only(p->id, sizeof p->id, ".~-_") || p->id[0] == '.' || !p->port ||
        p->view > BROWSER_TENSORBOARD || (p->prefix[0] && p->prefix[0] != '/') ||
        !p->id[0] != (p->view == BROWSER_LIST))
        return vp_fail(VP_EREFUSED, "not a page of this server");
    is_v4 = inet_pton(AF_INET, p->host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
    is_v6 = inet_pton(AF_INET6, p->host, &v6) == 1 && !memcmp(&v6, &v6_loopback, sizeof v6);
    if (!is_v4 && !is_v6)
        return vp_fail(VP_EREFUSED, "not an address of this machine");
    vp_buf_printf(b, is_v6 ? "http://[%s]:%u%s/" : "http://%s:%u%s/", p->host, p->port, p->prefix);
    return browser_path(b, p->view, p->id);
}

/* Reaps a child, so that it does not stay a zombie in an application that uses the library. */
static void *reap_browser_child(void *arg)
{
    int status;
    waitpid((pid_t)(intptr_t)arg, &status, 0);
    return NULL;
}

static void reap_later(pid_t pid)
{
    pthread_t thread;
    if (!pthread_create(&thread, NULL, reap_browser_child, (void *)(intptr_t)pid))
        pthread_detach(thread);
}

/* Starts a program in a new session, so that Ctrl-C does not end the browser, without access to the
 * terminal and with default signal handlers. */
static bool spawn_browser(char **argv)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none;
    pid_t pid;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    bool ok = !posix_spawnp(&pid, argv[0], &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    if (ok)
        reap_later(pid);
    return ok;
}

/* A copy of the word with the URL in place of "%s"; NULL when out of memory. */
static char *with_url(vp_str word, const char *url)
{
    size_t at = vp_str_find(word, VP_STR("%s"));
    vp_buf b;
    vp_buf_init(&b, 64u << 10);
    vp_buf_str(&b, vp_str_head(word, at));
    if (at < word.n) {
        vp_buf_puts(&b, url);
        vp_buf_str(&b, vp_str_skip(word, at + 2));
    }
    return vp_buf_take(&b, NULL);
}

/* Words are split at spaces; there is no quoting, because there is no shell. */
static bool run_browser_command(vp_str command, const char *url)
{
    char *argv[ARGS_MAX + 2] = {NULL};
    size_t n = 0;
    bool has_url = vp_str_find(command, VP_STR("%s")) < command.n, ok = true;
    while (command.n && n < ARGS_MAX && ok) {
        vp_str word;
        ok = vp_take_until(&command, ' ', COMMAND_MAX, &word);
        if (ok && word.n)
            ok = (argv[n++] = with_url(word, url)) != NULL;
    }
    if (ok && n && !has_url)
        ok = (argv[n++] = vp_strdup(url)) != NULL;
    ok = ok && n && spawn_browser(argv);
    for (size_t i = 0; i < n; i++)
        vp_free(argv[i]);
    return ok;
}

int browser_open(const char *url)
{
    vp_str list = vp_str_of(getenv("BROWSER")), command;
    bool asked = list.n > 0;
    while (list.n && vp_take_until(&list, ':', COMMAND_MAX, &command))
        if (run_browser_command(command, url))
            return 0;
    if (asked)
        return vp_fail(VP_ENOTFOUND, "cannot start $BROWSER; open the URL yourself");
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
        return vp_fail(VP_ENOTFOUND, "no display; open the URL yourself");
    if (run_browser_command(VP_STR("xdg-open"), url))
        return 0;
    return vp_fail(VP_ENOTFOUND, "xdg-open not found; set $BROWSER or open the URL yourself");
}
