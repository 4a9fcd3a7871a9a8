#include "server/api/browser.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

extern char **environ;

#define WORDS_MAX 8 /* of one program in $BROWSER */

static bool is_set(const char *name)
{
    const char *v = getenv(name);
    return v && *v;
}

bool browser_is_remote(void)
{
    return (is_set("SSH_CONNECTION") || is_set("SSH_TTY")) && !is_set("BROWSER");
}

/* A browser that keeps running must neither write over the terminal nor end with our Ctrl-C. */
static int spawn(pid_t *pid, char *const *argv)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&fa);
    posix_spawnattr_init(&at);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setflags(&at, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                      POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&at, &none);
    posix_spawnattr_setsigdefault(&at, &all);
    int rc = posix_spawnp(pid, argv[0], &fa, &at, argv, environ);
    posix_spawnattr_destroy(&at);
    posix_spawn_file_actions_destroy(&fa);
    return rc;
}

/* A launcher says within moments whether it found a browser; a browser itself stays. It is given
 * this long to fail; what stays is left to init when we end. */
static bool failed_soon(pid_t pid)
{
    struct timespec pause = {.tv_nsec = 20000000};
    int status;
    for (int i = 0; i < 50; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* "program --flag %s" with the URL for %s, or behind it all. */
static bool try_program(vp_str words, const char *url)
{
    char *argv[WORDS_MAX + 2] = {0};
    size_t n = 0;
    bool placed = false;
    pid_t pid;
    vp_str word;
    while (words.n && n < WORDS_MAX) {
        (void)vp_take_until(&words, ' ', words.n, &word);
        if (!word.n)
            continue;
        bool here = vp_str_eq(word, VP_STR("%s"));
        placed = placed || here;
        argv[n++] = here ? vp_strdup(url) : vp_strndup(word.p, word.n);
    }
    if (n && !placed)
        argv[n++] = vp_strdup(url);
    bool ok = n && argv[0] && argv[n - 1] && spawn(&pid, argv) == 0 && !failed_soon(pid);
    for (size_t i = 0; i < n; i++)
        vp_free(argv[i]);
    return ok;
}

int browser_open(const char *url)
{
    vp_str programs = vp_str_of(is_set("BROWSER") ? getenv("BROWSER") : "xdg-open"), one;
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return vp_fail(VP_EARG, "not a web address");
    while (programs.n) {
        (void)vp_take_until(&programs, ':', programs.n, &one);
        if (try_program(one, url))
            return 0;
    }
    return vp_fail(VP_ENOTFOUND, "no browser could be started; open %.200s yourself", url);
}

int browser_put_tunnel(vp_buf *b, uint16_t port)
{
    /* "client port server port" */
    vp_str ssh = vp_str_of(getenv("SSH_CONNECTION")), word = VP_STR_NONE, server = VP_STR_NONE;
    const struct passwd *user = getpwuid(geteuid());
    for (int i = 0; i < 4 && ssh.n; i++) {
        (void)vp_take_until(&ssh, ' ', ssh.n, &word);
        if (i == 2)
            server = word;
    }
    vp_buf_printf(b, "ssh -N -L %u:127.0.0.1:%u ", port, port);
    if (server.n && word.n && !vp_str_eq(word, VP_STR("22")))
        vp_buf_printf(b, "-p %.*s ", VP_STR_ARG(word));
    if (user)
        vp_buf_printf(b, "%s@", user->pw_name);
    return vp_buf_str(b, server.n ? server : VP_STR("HOST"));
}
