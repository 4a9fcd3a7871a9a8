#include "server/local/outside_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/system/descriptors.h"
#include "trace/base/time.h"

/* In ms: interval of checking for exited children; time a capture may take beyond its duration,
 * which exceeds its own --patience; and time to exit after it was told to. */
#define LOOK_EVERY_MS 100
#define SLACK_MS 300000
#define KILL_AFTER_MS 10000
#define SAID_MAX 1024u

typedef enum order_what { ORDER_BEGIN, ORDER_CANCEL } order_what;

typedef struct order {
    order_what what;
    uint32_t job, duration_ms;
    char targets[CAPTURE_TARGETS_TEXT];
} order;

static struct {
    pid_t pid; /* 0: none */
    int fd;
} outside = {.fd = -1};

/* ---- Over there ------------------------------------------------------------------------------ */

typedef struct worker {
    uint32_t job; /* 0: none */
    pid_t pid;    /* 0: reaped */
    int out, err, exit_code;
    int64_t until_ms; /* time of SIGTERM; told: time of SIGKILL */
    bool told, too_long;
    char targets[CAPTURE_TARGETS_TEXT];
    size_t line_n, said_n;
    char line[CAPTURE_LINE_MAX], said[SAID_MAX];
} worker;

typedef struct boss {
    int fd;
    const char *dir, *program;
    bool ending;
    worker workers[CAPTURE_JOBS_MAX];
    capture_targets known;
    capture_event event;
} boss;

static boss there;

static void tell_capture_event(boss *b, uint32_t job, bool ended, int exit_code, vp_str text)
{
    capture_event *e = &b->event;
    text = vp_str_head(text, sizeof e->text - 1);
    *e = (capture_event){.job = job, .ended = ended, .exit_code = exit_code};
    memcpy(e->text, text.p, text.n);
    if (send(b->fd, e, sizeof *e, MSG_NOSIGNAL) < 0)
        b->ending = true;
}

static _Noreturn void exec_capture_command(const boss *b, const order *o, const int out[2],
                                           const int err[2])
{
    char ms[32];
    snprintf(ms, sizeof ms, "%ums", o->duration_ms);
    const char *argv[] = {"view_profile", "capture", "--format", "json", "--duration", ms,
                          "--out",        b->dir,    o->targets, NULL};
    sigset_t none;
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    static const int heard[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD};
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
        (void)sigaction(heard[i], &usual, NULL);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0 && dup2(null, 0) == 0 && dup2(out[1], 1) == 1 && dup2(err[1], 2) == 2 &&
        prctl(PR_SET_PDEATHSIG, SIGTERM) == 0) {
        vp_close_range(3, ~0u, false);
        execv(b->program, (char *const *)(uintptr_t)argv);
    }
    _exit(127);
}

static bool start_capture_worker(boss *b, worker *w, const order *o)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    if (pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0)
        w->pid = fork();
    if (w->pid == 0)
        exec_capture_command(b, o, out, err);
    vp_fs_close(&out[1]);
    vp_fs_close(&err[1]);
    w->out = out[0];
    w->err = err[0];
    if (w->pid > 0)
        return true;
    vp_fs_close(&w->out);
    vp_fs_close(&w->err);
    return false;
}

static void begin_capture_order(boss *b, const order *o)
{
    size_t i = 0;
    while (i < CAPTURE_JOBS_MAX && b->workers[i].job)
        i++;
    bool sound = memchr(o->targets, 0, sizeof o->targets) && o->job && o->duration_ms &&
                 o->duration_ms <= CAPTURE_MS_MAX && capture_targets_ok(vp_str_of(o->targets));
    if (!sound || i == CAPTURE_JOBS_MAX) {
        tell_capture_event(b, o->job, true, 2, VP_STR("this capture request is not allowed"));
        return;
    }
    worker *w = &b->workers[i];
    memset(w, 0, sizeof *w);
    w->pid = -1;
    memcpy(w->targets, o->targets, sizeof w->targets);
    w->until_ms = vp_now_ms() + o->duration_ms + SLACK_MS;
    if (start_capture_worker(b, w, o))
        w->job = o->job;
    else
        tell_capture_event(b, o->job, true, 6,
                           VP_STR("cannot start a process: the process limit is reached"));
}

/* SIGINT first, so that the capture keeps received data. */
static void interrupt_worker(worker *w)
{
    if (!w->job || w->pid <= 0 || w->told)
        return;
    (void)kill(w->pid, SIGINT);
    w->told = true;
    w->until_ms = vp_now_ms() + KILL_AFTER_MS;
}

/* false: the server has exited, or the request is invalid. */
static bool obey_order(boss *b)
{
    order o;
    ssize_t n = recv(b->fd, &o, sizeof o, 0);
    if (n < 0 && errno == EINTR)
        return true;
    if (n != (ssize_t)sizeof o)
        return false;
    if (o.what == ORDER_BEGIN)
        begin_capture_order(b, &o);
    for (size_t i = 0; o.what == ORDER_CANCEL && i < CAPTURE_JOBS_MAX; i++)
        if (b->workers[i].job == o.job)
            interrupt_worker(&b->workers[i]);
    return true;
}

/* Reads available output, keeps complete lines for `take`, and drops lines that do not fit. */
static void read_worker_lines(boss *b, worker *w)
{
    ssize_t n = read(w->out, w->line + w->line_n, sizeof w->line - w->line_n);
    if (n <= 0) {
        if (n == 0 || errno != EINTR)
            vp_fs_close(&w->out);
        return;
    }
    vp_str rest = {w->line, w->line_n + (size_t)n};
    for (const char *nl; rest.n && (nl = memchr(rest.p, '\n', rest.n));) {
        size_t len = (size_t)(nl - rest.p);
        if (w->too_long)
            w->too_long = false;
        else
            tell_capture_event(b, w->job, false, 0, vp_str_head(rest, len));
        rest = vp_str_skip(rest, len + 1);
    }
    memmove(w->line, rest.p, rest.n);
    w->line_n = rest.n;
    if (rest.n == sizeof w->line) {
        w->too_long = true;
        w->line_n = 0;
    }
}

/* Keeps the last bytes of stderr; its last line is the error message. */
static void read_worker_stderr(worker *w)
{
    char piece[512];
    ssize_t n = read(w->err, piece, sizeof piece);
    if (n <= 0) {
        if (n == 0 || errno != EINTR)
            vp_fs_close(&w->err);
        return;
    }
    if (w->said_n + (size_t)n > sizeof w->said) {
        size_t drop = w->said_n + (size_t)n - sizeof w->said;
        memmove(w->said, w->said + drop, w->said_n - drop);
        w->said_n -= drop;
    }
    memcpy(w->said + w->said_n, piece, (size_t)n);
    w->said_n += (size_t)n;
}

static vp_str last_line(const worker *w)
{
    static const vp_str name = VP_STR_INIT("view_profile: ");
    vp_str s = {w->said, w->said_n};
    while (s.n && s.p[s.n - 1] == '\n')
        s.n--;
    size_t nl = vp_str_rfind_char(s, '\n');
    s = nl < s.n ? vp_str_skip(s, nl + 1) : s;
    return vp_str_starts(s, name) ? vp_str_skip(s, name.n) : s;
}

static void bury_worker(boss *b, worker *w)
{
    int status;
    if (w->pid > 0 && waitpid(w->pid, &status, WNOHANG) == w->pid) {
        w->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        w->pid = 0;
    }
    if (w->pid || w->out >= 0 || w->err >= 0)
        return;
    if (w->exit_code == 0) {
        capture_targets_add(&b->known, vp_str_of(w->targets));
        (void)capture_targets_save(&b->known);
    }
    tell_capture_event(b, w->job, true, w->exit_code, last_line(w));
    w->job = 0;
}

static void hurry_worker(worker *w)
{
    if (w->pid <= 0 || vp_now_ms() < w->until_ms)
        return;
    if (w->told)
        (void)kill(w->pid, SIGKILL);
    else
        interrupt_worker(w);
}

/* true: a capture is running. */
static bool look_after(boss *b, const struct pollfd *fds)
{
    bool any = false;
    for (size_t i = 0; i < CAPTURE_JOBS_MAX; i++) {
        worker *w = &b->workers[i];
        if (!w->job)
            continue;
        if (fds[2 * i].revents)
            read_worker_lines(b, w);
        if (fds[2 * i + 1].revents)
            read_worker_stderr(w);
        if (b->ending)
            interrupt_worker(w);
        hurry_worker(w);
        bury_worker(b, w);
        any |= w->job != 0;
    }
    return any;
}

static void run_capture_workers(boss *b)
{
    for (bool any = false; any || !b->ending;) {
        struct pollfd fds[2 * CAPTURE_JOBS_MAX + 1];
        for (size_t i = 0; i < CAPTURE_JOBS_MAX; i++) {
            const worker *w = &b->workers[i];
            fds[2 * i] = (struct pollfd){.fd = w->job ? w->out : -1, .events = POLLIN};
            fds[2 * i + 1] = (struct pollfd){.fd = w->job ? w->err : -1, .events = POLLIN};
        }
        struct pollfd *server = &fds[2 * CAPTURE_JOBS_MAX];
        *server = (struct pollfd){.fd = b->ending ? -1 : b->fd, .events = POLLIN};
        if (poll(fds, 2 * CAPTURE_JOBS_MAX + 1, any ? LOOK_EVERY_MS : -1) < 0)
            continue;
        any = look_after(b, fds);
        if (server->revents && !obey_order(b))
            b->ending = true;
        for (size_t i = 0; i < CAPTURE_JOBS_MAX; i++)
            any |= b->workers[i].job != 0;
    }
}

static void serve_capture_process(const char *dir, const char *program, int fd)
{
    const capture_event ready = {.job = 0};
    there = (boss){.fd = fd, .dir = dir, .program = program};
    /* As in outside.c: Ctrl-C and inherited sockets belong to the server. */
    (void)setsid();
    if (fd > 3)
        vp_close_range(3, (unsigned)fd - 1, false);
    vp_close_range((unsigned)fd + 1, ~0u, false);
    (void)prctl(PR_SET_NAME, "vp-capture");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        send(fd, &ready, sizeof ready, MSG_NOSIGNAL) < 0)
        return;
    capture_targets_load(&there.known);
    run_capture_workers(&there);
}

/* ---- Here ------------------------------------------------------------------------------------ */

const char *outside_capture_place(char *out, const char *dir)
{
    struct stat st;
    char path[VP_PATH_MAX];
    if (!realpath(dir, path) || stat(path, &st) < 0)
        return "captures need a local directory, and the server reads from a remote address or "
               "standard input";
    if (!S_ISDIR(st.st_mode))
        return "captures need a directory, and the server reads a file";
    if (access(path, W_OK | X_OK) < 0)
        return "the server has no write permission for the directory";
    snprintf(out, VP_PATH_MAX, "%s", path);
    return NULL;
}

int outside_capture_start(const char *dir, const char *program)
{
    int ends[2];
    capture_event ready;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return vp_fail(VP_EIO, "cannot create a socket pair: %s", strerror(errno));
    pid_t pid = fork();
    if (!pid) {
        close(ends[0]);
        serve_capture_process(dir, program, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return vp_fail(VP_EIO, "cannot start a process: %s", strerror(errno));
    }
    outside.pid = pid;
    outside.fd = ends[0];
    if (outside_capture_hear(&ready) == 0)
        return 0;
    outside_capture_end();
    return vp_fail(VP_EIO, "the capture process did not start");
}

bool outside_capture_runs(void)
{
    return outside.pid != 0;
}

void outside_capture_hush(void)
{
    if (outside.pid)
        (void)shutdown(outside.fd, SHUT_RDWR);
}

void outside_capture_end(void)
{
    if (!outside.pid)
        return;
    vp_fs_close(&outside.fd);
    while (waitpid(outside.pid, NULL, 0) < 0 && errno == EINTR) {
    }
    outside.pid = 0;
}

static int give_order(const order *o)
{
    if (!outside.pid || send(outside.fd, o, sizeof *o, MSG_NOSIGNAL) != (ssize_t)sizeof *o)
        return vp_fail(VP_EIO, "the capture process has exited; restart the server");
    return 0;
}

int outside_capture_begin(uint32_t job, const char *targets, uint32_t duration_ms)
{
    order o = {.what = ORDER_BEGIN, .job = job, .duration_ms = duration_ms};
    snprintf(o.targets, sizeof o.targets, "%s", targets);
    return give_order(&o);
}

int outside_capture_cancel(uint32_t job)
{
    return give_order(&(order){.what = ORDER_CANCEL, .job = job});
}

int outside_capture_hear(capture_event *out)
{
    ssize_t n;
    do
        n = recv(outside.fd, out, sizeof *out, 0);
    while (n < 0 && errno == EINTR);
    out->text[sizeof out->text - 1] = 0;
    return n == (ssize_t)sizeof *out ? 0 : vp_fail(VP_EIO, "the capture process has exited");
}
