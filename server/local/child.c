#include "server/local/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"
#include "trace/base/system/descriptors.h"
#include "trace/base/thread.h"
#include "trace/base/time.h"

#define ARGS_MAX 24
#define LOOK_EVERY_MS 100
#define TERM_GRACE_MS 3000
/* Restarts of a kept program: pause before a restart, maximum number in a row, and the run time
 * after which the count is reset; times in ms. */
#define RESTART_AFTER_MS 200
#define RESTARTS_MAX 5
#define WORKED_MS 60000

struct child {
    pthread_t thread;
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t changed;
    bool reaped;         /* the pid is no longer valid */
    bool started, ended; /* started: spawning was tried, and error or pid is set */
    bool stopping, kept; /* kept: restart it when it exits */
    unsigned restarts, in_a_row;
    int64_t started_ms;
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
    return vp_fail(VP_ENOTFOUND, "program \"%s\" not found in PATH", name);
}

/* ---- The child's end of things --------------------------------------------------------------- */

/* No blocked or ignored signal is inherited from the thread that starts it. */
static void reset_signals(void)
{
    sigset_t none;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    for (int sig = 1; sig < NSIG; sig++)
        (void)sigaction(sig, &usual, NULL);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs in the child between fork and exec, where only async-signal-safe calls are allowed. The
 * kernel sends the death signal when the thread that forked exits; that thread lives as long as the
 * program. The child gets its own process group, so that Ctrl-C reaches it only through this
 * process. */
static _Noreturn void child_exec(char *const *argv, pid_t parent, int out_fd, int error_fd)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int ok = null >= 0 && dup2(null, 0) == 0 && dup2(out_fd, 1) == 1 && dup2(out_fd, 2) == 2 &&
             setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGTERM) == 0;
    if (ok && getppid() == parent) {
        /* Close-on-exec instead of close: the pipe that reports the error of exec is one of them.
         */
        vp_close_range(3, ~0u, true);
        reset_signals();
        execv(argv[0], argv);
    }
    int err = errno;
    ssize_t n = write(error_fd, &err, sizeof err);
    _exit(n == (ssize_t)sizeof err ? 127 : 126);
}

/* errno of exec, 0 if it succeeded. */
static int exec_error(int fd)
{
    int err = 0;
    ssize_t n;
    do
        n = read(fd, &err, sizeof err);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof err ? err : 0;
}

static int child_spawn(pid_t *pid, char *const *argv, int out_fd)
{
    int said[2];
    sigset_t all, before;
    if (pipe2(said, O_CLOEXEC))
        return vp_fail(VP_EIO, "cannot create a pipe: %s", strerror(errno));
    /* Signal handlers of this process must not run in the child. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t self = getpid(), made = fork();
    if (made == 0)
        child_exec(argv, self, out_fd, said[1]);
    int err = made < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    vp_fs_close(&said[1]);
    if (made > 0 && (err = exec_error(said[0])) != 0)
        waitpid(made, NULL, 0);
    vp_fs_close(&said[0]);
    if (err)
        return vp_fail(VP_EIO, "cannot start %s: %s", argv[0], strerror(err));
    *pid = made;
    return 0;
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* Keeps the last CHILD_LOG_MAX bytes of the output, from the start of a line. */
static void child_keep_output(child *c, const char *p, size_t n)
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

/* Waits for output and reads it; false at the end of the output. */
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
    child_keep_output(c, piece, (size_t)n);
    pthread_mutex_unlock(&c->lock);
    return true;
}

/* Reaps the child if it has exited. The pid stays valid for kill() until `reaped` is set; both
 * happen under the lock. */
static bool child_bury(child *c)
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

/* Waits until this process has exited. */
static void child_watch(child *c, int fd)
{
    while (!child_bury(c)) {
        if (fd >= 0 && !listen_to(c, fd, LOOK_EVERY_MS))
            vp_fs_close(&fd);
        else if (fd < 0)
            poll(NULL, 0, LOOK_EVERY_MS);
    }
    /* Its children may keep the pipe open, so only available output is read. */
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (fd >= 0 && poll(&p, 1, 0) > 0 && listen_to(c, fd, 0))
        ;
    vp_fs_close(&fd);
}

/* Starts the process and sets the pid under the lock; *fd is the end of its output. */
static int child_begin(child *c, int *fd)
{
    int fds[2] = {-1, -1};
    pid_t pid = -1;
    int rc = pipe2(fds, O_CLOEXEC) ? vp_fail(VP_EIO, "cannot create a pipe: %s", strerror(errno))
                                   : child_spawn(&pid, c->argv, fds[1]);
    vp_fs_close(&fds[1]);
    pthread_mutex_lock(&c->lock);
    c->started = true;
    c->pid = pid;
    c->reaped = rc < 0;
    c->started_ms = vp_now_ms();
    if (rc < 0)
        c->error = *vp_error_last();
    else if (c->stopping) /* child_stop was called while no process was running */
        kill(pid, SIGKILL);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (rc < 0)
        vp_fs_close(&fds[0]);
    *fd = fds[0];
    return rc;
}

/* True if it is to be restarted after a pause. A program that exits repeatedly is not restarted any
 * more; after a longer run the count starts again. */
static bool should_restart(child *c)
{
    struct timespec until = vp_cond_until(RESTART_AFTER_MS);
    char line[80];
    pthread_mutex_lock(&c->lock);
    if (vp_now_ms() - c->started_ms > WORKED_MS)
        c->in_a_row = 0;
    bool again = c->kept && c->in_a_row < RESTARTS_MAX;
    for (int rc = 0; again && !c->stopping && rc != ETIMEDOUT;)
        rc = pthread_cond_timedwait(&c->changed, &c->lock, &until);
    again = again && !c->stopping;
    if (again) {
        c->in_a_row++;
        c->restarts++;
        int n = snprintf(line, sizeof line, "view_profile: exited with code %d, restarting\n",
                         c->exit_code);
        child_keep_output(c, line, (size_t)n);
    }
    pthread_mutex_unlock(&c->lock);
    return again;
}

static void *child_thread(void *arg)
{
    child *c = arg;
    int fd;
    do {
        if (child_begin(c, &fd) < 0)
            break;
        child_watch(c, fd);
    } while (should_restart(c));
    /* Set last, so that a reader who sees the end also sees the complete log. */
    pthread_mutex_lock(&c->lock);
    c->ended = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
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
            return vp_no_memory();
    }
    return 0;
}

int child_start(child **out, const char *const *argv)
{
    child *c = vp_calloc(1, sizeof *c);
    VP_NEED(c);
    pthread_mutex_init(&c->lock, NULL);
    vp_cond_init(&c->changed);
    int rc = copy_argv(c, argv);
    if (rc == 0 && pthread_create(&c->thread, NULL, child_thread, c))
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
    status->restarts = c->restarts;
    status->started_ms = c->started_ms;
    memcpy(status->log, c->log, sizeof status->log);
    pthread_mutex_unlock(&c->lock);
}

void child_keep(child *c)
{
    pthread_mutex_lock(&c->lock);
    c->kept = true;
    pthread_mutex_unlock(&c->lock);
}

/* Under the lock, so that the process group still exists. */
static void signal_group(const child *c, int sig)
{
    if (!c->reaped)
        kill(-c->pid, sig);
}

void child_stop(child *c)
{
    if (!c)
        return;
    struct timespec until = vp_cond_until(TERM_GRACE_MS);
    pthread_mutex_lock(&c->lock);
    c->stopping = true;
    pthread_cond_broadcast(&c->changed);
    signal_group(c, SIGTERM);
    int rc = 0;
    while (!c->ended && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&c->changed, &c->lock, &until);
    signal_group(c, SIGKILL);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    child_free(c);
}
