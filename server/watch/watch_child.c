#include "server/watch/watch_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"

#define LINE_MAX_BYTES (256u << 10)
#define ARGS_MAX 80u
#define ENV_MAX 4096u
#define KILL_AFTER_MS 10000

extern char **environ;

static int prepare_spawn_attributes(posix_spawn_file_actions_t *a, posix_spawnattr_t *attr, int out,
                                    int err)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int rc = posix_spawnattr_setsigmask(attr, &none);
    rc = rc ? rc : posix_spawnattr_setsigdefault(attr, &all);
    rc = rc ? rc : posix_spawnattr_setpgroup(attr, 0);
    rc = rc ? rc
            : posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                 POSIX_SPAWN_SETPGROUP);
    rc = rc ? rc : posix_spawn_file_actions_addopen(a, 0, "/dev/null", O_RDONLY, 0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(a, out, 1);
    return rc ? rc : posix_spawn_file_actions_adddup2(a, err, 2);
}

static int spawn_watch_child(pid_t *pid, char **argv, char **env, int out, int err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc)
        return rc;
    rc = posix_spawnattr_init(&attr);
    if (!rc) {
        rc = prepare_spawn_attributes(&actions, &attr, out, err);
        if (!rc)
            rc = posix_spawnp(pid, argv[0], &actions, &attr, argv, env);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* posix_spawn does not modify the strings, but takes char *. */
static size_t copy_texts(char **to, size_t at, size_t most, const char *const *from)
{
    for (; from && *from && at < most; from++)
        to[at++] = (char *)(uintptr_t)*from;
    to[at] = NULL;
    return at;
}

static int pipe_of(int ends[2])
{
    return pipe2(ends, O_CLOEXEC | O_NONBLOCK)
               ? vp_fail(VP_EIO, "cannot create a pipe: %s", strerror(errno))
               : 0;
}

static void make_blocking(int fd)
{
    (void)fcntl(fd, F_SETFL, 0);
}

int watch_child_start(watch_child *c, const char *const *argv, bool piped, const char *const *env,
                      int64_t allowed_ms)
{
    char *args[ARGS_MAX + 1] = {0}, *vars[ENV_MAX + 1];
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    size_t n = 0;
    *c = (watch_child){.out = -1, .err = -1};
    for (; argv[n] || !n; n++)
        if (n == ARGS_MAX)
            return vp_fail(VP_ELIMIT, "the command line has more than %u arguments", ARGS_MAX);
    for (size_t i = 0; i < n; i++)
        args[i] = (char *)(uintptr_t)argv[i];
    n = copy_texts(vars, 0, 8, env); /* of two with the same name, the first is used */
    (void)copy_texts(vars, n, ENV_MAX, (const char *const *)environ);
    int rc = pipe_of(err);
    if (rc >= 0 && piped)
        rc = pipe_of(out);
    if (rc >= 0) {
        make_blocking(err[1]);
        if (piped)
            make_blocking(out[1]);
        int failed = spawn_watch_child(&c->pid, args, vars, piped ? out[1] : STDERR_FILENO, err[1]);
        if (failed)
            rc = vp_fail(VP_EIO, "%s: cannot start: %s", args[0], strerror(failed));
    }
    vp_fs_close(&out[1]);
    vp_fs_close(&err[1]);
    if (rc < 0) {
        vp_fs_close(&out[0]);
        vp_fs_close(&err[0]);
        c->pid = 0;
        return rc;
    }
    c->out = out[0];
    c->err = err[0];
    c->term_at_ms = vp_now_ms() + allowed_ms;
    watch_child_most(c, LINE_MAX_BYTES);
    vp_buf_init(&c->errors, LINE_MAX_BYTES);
    return 0;
}

void watch_child_most(watch_child *c, size_t bytes)
{
    c->most = bytes;
    vp_buf_init(&c->lines, bytes);
}

static void drain_child_output(int *fd, vp_buf *b, size_t most)
{
    char piece[16384];
    ssize_t n = 0;
    while (*fd >= 0 && (n = read(*fd, piece, sizeof piece)) > 0)
        if (b->n + (size_t)n < most) /* drops a longer line, which is not from view_profile */
            (void)vp_buf_put(b, piece, (size_t)n);
    if (*fd >= 0 && (n == 0 || (errno != EAGAIN && errno != EINTR)))
        vp_fs_close(fd);
}

static bool take_child_line(vp_buf *b, size_t *used, vp_str *line)
{
    const char *at = b->n > *used ? b->p + *used : NULL;
    const char *end = at ? memchr(at, '\n', b->n - *used) : NULL;
    if (!end)
        return false;
    *line = (vp_str){at, (size_t)(end - at)};
    *used += line->n + 1;
    return true;
}

static void forget_taken_bytes(vp_buf *b, size_t used)
{
    if (used)
        memmove(b->p, b->p + used, b->n - used);
    b->n -= used;
}

void watch_child_read(watch_child *c)
{
    size_t used = 0;
    vp_str line, head = VP_STR("view_profile: ");
    drain_child_output(&c->out, &c->lines, c->most);
    drain_child_output(&c->err, &c->errors, LINE_MAX_BYTES);
    while (take_child_line(&c->errors, &used, &line)) {
        if (vp_str_starts(line, head))
            line = vp_str_skip(line, head.n);
        size_t n = line.n < sizeof c->said - 1 ? line.n : sizeof c->said - 1;
        memcpy(c->said, line.p, n);
        c->said[n] = 0;
    }
    forget_taken_bytes(&c->errors, used);
}

bool watch_child_line(watch_child *c, vp_str *line)
{
    forget_taken_bytes(&c->lines, c->taken);
    c->taken = 0;
    return take_child_line(&c->lines, &c->taken, line);
}

bool watch_child_reap(watch_child *c)
{
    int status;
    if (c->pid <= 0 || waitpid(c->pid, &status, WNOHANG) != c->pid)
        return false;
    c->pid = 0;
    c->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    watch_child_read(c);
    vp_fs_close(&c->out);
    vp_fs_close(&c->err);
    return true;
}

void watch_child_end(watch_child *c, int64_t now_ms)
{
    if (c->pid <= 0)
        return;
    if (!c->told || now_ms >= c->term_at_ms + KILL_AFTER_MS)
        (void)kill(-c->pid, c->told ? SIGKILL : SIGTERM);
    if (!c->told)
        c->term_at_ms = now_ms;
    c->told = true;
}

void watch_child_free(watch_child *c)
{
    vp_fs_close(&c->out);
    vp_fs_close(&c->err);
    vp_buf_free(&c->lines);
    vp_buf_free(&c->errors);
    c->pid = 0;
}
