#include "server/remote/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"

#define ARGS_MAX 24
#define LOOK_EVERY_MS 100
#define TERM_GRACE_MS 3000

extern char **environ;

struct child {
    pthread_t thread;
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t changed;
    bool reaped;         /* the pid is no longer ours */
    bool started, ended; /* started: spawning was tried, error or pid is set */
    bool stopping;
    vp_error error;
    pid_t pid;
    int exit_code;
    char log[CHILD_LOG_MAX];
    size_t log_n;
    char *argv[ARGS_MAX + 1];
};

int child_find(char *out, const char *name)
{
    vp_str path = vp_str_of(getenv("PATH")), dir;
    if (strchr(name, '/'))
        path = VP_STR("");
    do {
        if (!vp_take_until(&path, ':', VP_PATH_MAX, &dir))
            break;
        int n = snprintf(out, VP_PATH_MAX, "%.*s%s%s", VP_STR_ARG(dir), dir.n ? "/" : "", name);
        if (n > 0 && n < (int)VP_PATH_MAX && strchr(out, '/') && access(out, X_OK) == 0)
            return 0;
    } while (path.n);
    return vp_fail(VP_ENOTFOUND, "no program \"%s\" in PATH", name);
}

/* ---- The child's end of things --------------------------------------------------------------- */

static int file_actions(posix_spawn_file_actions_t *fa, int out_fd)
{
    if (posix_spawn_file_actions_init(fa))
        return vp_fail(VP_ENOMEM, "out of memory");
    int bad = posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDONLY, 0) ||
              posix_spawn_file_actions_adddup2(fa, out_fd, 1) ||
              posix_spawn_file_actions_adddup2(fa, out_fd, 2);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    bad = bad || posix_spawn_file_actions_addclosefrom_np(fa, 3);
#endif
    return bad ? vp_fail(VP_ENOMEM, "out of memory") : 0;
}

/* A group of its own, so that Ctrl-C at our terminal reaches it through us and in order; no
 * blocked or ignored signal is inherited from the thread that starts it. */
static int attributes(posix_spawnattr_t *at)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawnattr_init(at))
        return vp_fail(VP_ENOMEM, "out of memory");
    posix_spawnattr_setpgroup(at, 0);
    posix_spawnattr_setsigmask(at, &none);
    posix_spawnattr_setsigdefault(at, &all);
    posix_spawnattr_setflags(at, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                     POSIX_SPAWN_SETSIGDEF);
    return 0;
}

static int spawn(pid_t *pid, char *const *argv, int out_fd)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    VP_TRY(file_actions(&fa, out_fd));
    int rc = attributes(&at);
    if (rc == 0) {
        int err = posix_spawn(pid, argv[0], &fa, &at, argv, environ);
        rc = err ? vp_fail(VP_EIO, "cannot start %s: %s", argv[0], strerror(err)) : 0;
        posix_spawnattr_destroy(&at);
    }
    posix_spawn_file_actions_destroy(&fa);
    return rc;
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* Keeps the end of the output; what falls out at the front takes the rest of its line along. */
static void keep(child *c, const char *p, size_t n)
{
    const size_t room = CHILD_LOG_MAX - 1;
    if (n > room) {
        p += n - room;
        n = room;
    }
    if (c->log_n + n > room) {
        size_t drop = c->log_n + n - room;
        const char *nl = memchr(c->log + drop, '\n', c->log_n - drop);
        drop = nl ? (size_t)(nl - c->log) + 1 : drop;
        memmove(c->log, c->log + drop, c->log_n - drop);
        c->log_n -= drop;
    }
    memcpy(c->log + c->log_n, p, n);
    c->log_n += n;
    c->log[c->log_n] = '\0';
}

/* Reads what is there within the wait. false at the end of the output. */
static bool listen_to(child *c, int fd, int wait_ms)
{
    char piece[4096];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (fd < 0) {
        poll(NULL, 0, wait_ms);
        return false;
    }
    if (poll(&p, 1, wait_ms) <= 0)
        return true;
    ssize_t n = read(fd, piece, sizeof piece);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    pthread_mutex_lock(&c->lock);
    keep(c, piece, (size_t)n);
    pthread_mutex_unlock(&c->lock);
    return true;
}

/* Buries the child when it has ended. The pid stays valid for kill() until `reaped` is set, since
 * both happen under the lock. */
static bool bury(child *c)
{
    int status;
    pthread_mutex_lock(&c->lock);
    if (waitpid(c->pid, &status, WNOHANG) == c->pid) {
        c->reaped = true;
        c->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    bool reaped = c->reaped;
    pthread_mutex_unlock(&c->lock);
    return reaped;
}

static void watch(child *c, int fd)
{
    while (!bury(c)) {
        if (fd >= 0 && !listen_to(c, fd, LOOK_EVERY_MS))
            vp_fs_close(&fd);
        else if (fd < 0)
            poll(NULL, 0, LOOK_EVERY_MS);
    }
    /* Its children may hold the pipe open: only what is there already belongs to the log. */
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (fd >= 0 && poll(&p, 1, 0) > 0 && listen_to(c, fd, 0))
        ;
    vp_fs_close(&fd);
    /* Only now: who sees the end sees the whole log. */
    pthread_mutex_lock(&c->lock);
    c->ended = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void *run(void *arg)
{
    child *c = arg;
    int fds[2] = {-1, -1};
    pid_t pid = -1;
    int rc = pipe2(fds, O_CLOEXEC) ? vp_fail(VP_EIO, "cannot make a pipe: %s", strerror(errno))
                                   : spawn(&pid, c->argv, fds[1]);
    vp_fs_close(&fds[1]);
    pthread_mutex_lock(&c->lock);
    c->started = true;
    c->pid = pid;
    c->ended = c->reaped = rc < 0;
    if (rc < 0)
        c->error = *vp_error_last();
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (rc < 0)
        vp_fs_close(&fds[0]);
    else
        watch(c, fds[0]);
    return NULL;
}

/* ---- Its owner ------------------------------------------------------------------------------- */

static void child_free(child *c)
{
    for (size_t i = 0; c->argv[i]; i++)
        vp_free(c->argv[i]);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    vp_free(c);
}

static int copy_argv(child *c, const char *const *argv)
{
    for (size_t i = 0; argv[i]; i++) {
        if (i == ARGS_MAX)
            return vp_fail(VP_EARG, "too many arguments for %s", argv[0]);
        if (!(c->argv[i] = vp_strdup(argv[i])))
            return vp_fail(VP_ENOMEM, "out of memory");
    }
    return 0;
}

int child_start(child **out, const char *const *argv)
{
    child *c = vp_calloc(1, sizeof *c);
    if (!c)
        return vp_fail(VP_ENOMEM, "out of memory");
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    int rc = copy_argv(c, argv);
    if (rc == 0 && pthread_create(&c->thread, NULL, run, c))
        rc = vp_fail(VP_EIO, "cannot start a thread");
    if (rc < 0) {
        child_free(c);
        return rc;
    }
    pthread_mutex_lock(&c->lock);
    while (!c->started)
        pthread_cond_wait(&c->changed, &c->lock);
    vp_error error = c->error;
    pthread_mutex_unlock(&c->lock);
    if (error.code) {
        pthread_join(c->thread, NULL);
        child_free(c);
        return vp_fail_copy(&error);
    }
    *out = c;
    return 0;
}

void child_look(child *c, child_status *status)
{
    pthread_mutex_lock(&c->lock);
    status->running = !c->ended;
    status->exit_code = c->exit_code;
    memcpy(status->log, c->log, sizeof status->log);
    pthread_mutex_unlock(&c->lock);
}

/* Under the lock: the group is still ours. */
static void signal_group(const child *c, int sig)
{
    if (!c->reaped)
        kill(-c->pid, sig);
}

void child_stop(child *c)
{
    if (!c)
        return;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += TERM_GRACE_MS / 1000;
    pthread_mutex_lock(&c->lock);
    signal_group(c, SIGTERM);
    int rc = 0;
    while (!c->ended && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&c->changed, &c->lock, &until);
    signal_group(c, SIGKILL);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    child_free(c);
}
