/* The thread that handles the socket and the signal. It sleeps until one of them is active, or
 * until a capture's time is over. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/system/live_dir.h"
#include "trace/base/thread.h"
#include "trace/base/time.h"
#include "trace/capture/control/control.h"
#include "trace/capture/control/control_wake.h"
#include "trace/capture/pool/recorder.h"

/* Time limit for a client to send its line and to read the response. */
#define CLIENT_MS 1000
#define LINE_MAX_BYTES 512u
#define ANSWER_MAX (64u << 10)

static struct {
    pthread_mutex_t lock; /* for start and stop */
    bool running;
    pthread_t thread;
    _Atomic bool ending;
    _Atomic int listen_fd; /* -1: none */
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
} t = {.lock = PTHREAD_MUTEX_INITIALIZER, .listen_fd = -1};

/* ---- A client ------------------------------------------------------------------------------- */

/* Reads a line into text and terminates it; false: timed out, or too long. */
static bool read_client_line(char *text, int fd)
{
    int64_t until = vp_now_ms() + CLIENT_MS;
    size_t n = 0;
    while (n < LINE_MAX_BYTES) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = until - vp_now_ms();
        if (left <= 0 || poll(&p, 1, (int)left) <= 0)
            return false;
        ssize_t got = recv(fd, text + n, LINE_MAX_BYTES - n, 0);
        if (got <= 0)
            return false;
        char *newline = memchr(text + n, '\n', (size_t)got);
        n += (size_t)got;
        if (newline) {
            *newline = 0;
            return true;
        }
    }
    return false;
}

static void send_to_client(int fd, const char *p, size_t n)
{
    int64_t until = vp_now_ms() + CLIENT_MS;
    while (n) {
        struct pollfd w = {.fd = fd, .events = POLLOUT};
        int64_t left = until - vp_now_ms();
        if (left <= 0 || poll(&w, 1, (int)left) <= 0)
            return;
        ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        p += sent;
        n -= (size_t)sent;
    }
}

static void serve_client(int listen_fd)
{
    char line[LINE_MAX_BYTES + 1];
    VP_CLEANUP(vp_fs_close) int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 || vp_live_peer(fd) < 0 || !read_client_line(line, fd))
        return;
    vp_buf b;
    vp_buf_init(&b, ANSWER_MAX);
    control_answer(&b, vp_str_of(line));
    send_to_client(fd, b.p, b.n);
    vp_buf_free(&b);
}

static void *control_thread(void *arg)
{
    (void)arg;
    while (!atomic_load(&t.ending)) {
        uint64_t count;
        struct pollfd fds[2] = {{.fd = control_wake_fd(), .events = POLLIN},
                                {.fd = atomic_load(&t.listen_fd), .events = POLLIN}};
        if (poll(fds, 2, control_tick()) < 0 && errno != EINTR)
            break;
        if (fds[0].revents && read(fds[0].fd, &count, sizeof count) < 0)
            errno = 0; /* the counter was 0: a spurious wakeup */
        if (control_was_signalled())
            control_signalled();
        if (fds[1].revents & POLLIN)
            serve_client(fds[1].fd);
    }
    return NULL;
}

/* ---- The socket ----------------------------------------------------------------------------- */

/* Removes sockets of killed processes, which accept no connections. */
static void remove_dead(const char *dir)
{
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && (e = readdir(d));) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        int n = snprintf(a.sun_path, sizeof a.sun_path, "%.100s/%s", dir, e->d_name);
        VP_CLEANUP(vp_fs_close) int fd = -1;
        if (!vp_str_ends(vp_str_of(e->d_name), VP_STR(".sock")) || n < 0 ||
            (size_t)n >= sizeof a.sun_path)
            continue;
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) < 0 && errno == ECONNREFUSED)
            (void)unlink(a.sun_path);
    }
    if (d)
        closedir(d);
}

static int make_socket(void)
{
    char dir[VP_PATH_MAX];
    char path[sizeof t.path];
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    VP_TRY(vp_live_dir(dir, true));
    remove_dead(dir);
    int n = snprintf(a.sun_path, sizeof a.sun_path, "%.100s/%ld.new", dir, (long)getpid());
    if (n < 0 || (size_t)n + 1 >= sizeof a.sun_path || strlen(dir) > 100)
        return vp_fail(VP_EIO, "the path of the control socket is too long: %.60s…", dir);
    VP_CLEANUP(vp_fs_close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return vp_fail(VP_EIO, "socket: %s", strerror(errno));
    snprintf(path, sizeof path, "%.*ssock", n - 3, a.sun_path);
    (void)unlink(a.sun_path); /* left by an earlier process with our id */
    /* Renamed last, so that a visible socket always accepts connections. */
    if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || chmod(a.sun_path, 0600) < 0 ||
        listen(fd, 8) < 0 || rename(a.sun_path, path) < 0)
        return vp_fail_at(vp_fail(VP_EIO, "%s", strerror(errno)), a.sun_path, -1, -1);
    memcpy(t.path, path, sizeof t.path);
    atomic_store(&t.listen_fd, vp_fs_take(&fd));
    return 0;
}

/* ---- Start and stop ------------------------------------------------------------------------- */

/* A forked child has neither the thread nor the socket, and must not respond in place of its
 * parent. */
static void forget_thread_in_child(void)
{
    int wake = control_set_wake_fd(-1), listening = atomic_exchange(&t.listen_fd, -1);
    pthread_mutex_init(&t.lock, NULL);
    t.running = false;
    t.path[0] = 0;
    if (wake >= 0)
        close(wake);
    if (listening >= 0)
        close(listening);
    control_forget();
}

static int start_control_thread(void)
{
    static bool prepared;
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        return vp_fail(VP_EIO, "eventfd: %s", strerror(errno));
    if (!prepared && pthread_atfork(NULL, NULL, forget_thread_in_child) == 0)
        prepared = true;
    control_set_wake_fd(fd);
    atomic_store(&t.ending, false);
    int rc = vp_thread_start(&t.thread, control_thread, NULL);
    if (rc < 0) {
        control_set_wake_fd(-1);
        close(fd);
        return rc;
    }
    t.running = true;
    return 0;
}

int control_thread_start(bool with_socket)
{
    pthread_mutex_lock(&t.lock);
    int rc = t.running ? 0 : start_control_thread();
    if (rc == 0 && with_socket && atomic_load(&t.listen_fd) < 0) {
        rc = make_socket();
        control_wake(false);
    }
    pthread_mutex_unlock(&t.lock);
    return rc;
}

void control_thread_stop(void)
{
    pthread_mutex_lock(&t.lock);
    if (t.running) {
        atomic_store(&t.ending, true);
        control_wake(false);
        pthread_join(t.thread, NULL);
        t.running = false;
        int wake = control_set_wake_fd(-1), listening = atomic_exchange(&t.listen_fd, -1);
        close(wake);
        if (listening >= 0)
            close(listening);
        if (t.path[0])
            (void)unlink(t.path);
        t.path[0] = 0;
    }
    pthread_mutex_unlock(&t.lock);
}

int vp_control_start(vp_profiler *p)
{
    control_set_profiler(p);
    cap_on_step(CAP_STEPS_CONTROL, control_step);
    return control_thread_start(true);
}

void vp_control_stop(void)
{
    control_thread_stop();
    control_set_profiler(NULL);
}

/* ---- The signal ----------------------------------------------------------------------------- */

static struct sigaction earlier[NSIG];

static void on_signal(int number, siginfo_t *info, void *context)
{
    const struct sigaction *e = &earlier[number];
    control_wake(true);
    if (e->sa_flags & SA_SIGINFO)
        e->sa_sigaction(number, info, context);
    else if (e->sa_handler != SIG_DFL && e->sa_handler != SIG_IGN)
        e->sa_handler(number);
}

int vp_install_signal(int signal_number, bool force)
{
    struct sigaction now, ours = {.sa_flags = SA_SIGINFO | SA_RESTART};
    ours.sa_sigaction = on_signal;
    if (signal_number < 1 || signal_number >= NSIG || sigaction(signal_number, NULL, &now) < 0)
        return vp_fail(VP_EARG, "invalid signal %d", signal_number);
    bool has_handler = (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL;
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_signal)
        return 0;
    if (has_handler && !force)
        return vp_fail(VP_EREFUSED, "signal %d has a handler already", signal_number);
    VP_TRY(control_thread_start(false));
    sigemptyset(&ours.sa_mask);
    earlier[signal_number] = now;
    if (sigaction(signal_number, &ours, NULL) < 0)
        return vp_fail(VP_EARG, "signal %d: %s", signal_number, strerror(errno));
    return 0;
}
