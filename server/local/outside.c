#include "server/local/outside.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/local/browser.h"
#include "server/local/proc_lookup.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/system/descriptors.h"

typedef enum question { OPEN_BROWSER, PID_OF_SOCKET, DIRECTORY_OF_PID } question;

/* One datagram in each direction. text: the error message, or the directory. */
typedef struct message {
    question what;
    int code;
    uint64_t number;
    browser_page page;
    char text[VP_PATH_MAX];
} message;

static struct {
    pid_t pid; /* 0: none */
    int fd;
    pthread_mutex_t lock;
} processes[OUTSIDE_KINDS] = {{.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER},
                              {.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER}};

/* ---- Over there ----------------------------------------------------------------------------- */

static void look_up(message *m)
{
    if (m->what == PID_OF_SOCKET)
        m->number = (uint64_t)proc_socket_pid(m->number);
    else
        (void)proc_directory(m->text, sizeof m->text, (pid_t)m->number);
}

/* Builds the URL in this process, from parts that can only name a page of a viewer on this machine.
 */
static void open_page(message *m)
{
    VP_CLEANUP(vp_buf_free) vp_buf url;
    vp_buf_init(&url, VP_PATH_MAX);
    m->code = browser_url(&url, &m->page);
    if (!m->code)
        m->code = browser_open(vp_buf_cstr(&url));
    snprintf(m->text, sizeof m->text, "%s", m->code ? vp_error_last()->message : "");
}

static void answer_outside_requests(outside_kind kind, int fd)
{
    message m = {.code = 0};
    while (recv(fd, &m, sizeof m, 0) == (ssize_t)sizeof m) {
        if ((m.what == OPEN_BROWSER) != (kind == OUTSIDE_BROWSER))
            return;
        if (kind == OUTSIDE_BROWSER)
            open_page(&m);
        else
            look_up(&m);
        if (send(fd, &m, sizeof m, MSG_NOSIGNAL) < 0 || kind == OUTSIDE_BROWSER)
            return;
    }
}

static void serve_outside_process(outside_kind kind, int fd)
{
    static const char *const names[] = {"vp-outside", "vp-lookup"};
    message m = {.code = 0};
    /* A new session: Ctrl-C and the loss of the terminal are handled by the server, whose end also
     * ends this process. */
    (void)setsid();
    /* Inherited sockets of a service manager belong to the server, not to this process or a
     * browser. */
    if (fd > 3)
        vp_close_range(3, (unsigned)fd - 1, false);
    vp_close_range((unsigned)fd + 1, ~0u, false);
    (void)prctl(PR_SET_NAME, names[kind]);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        send(fd, &m, sizeof m, MSG_NOSIGNAL) <
            0) /* signals outside_start that this process is ready */
        return;
    answer_outside_requests(kind, fd);
}

/* ---- Here ----------------------------------------------------------------------------------- */

static int hear_outside_reply(outside_kind kind, message *m)
{
    ssize_t n;
    do
        n = recv(processes[kind].fd, m, sizeof *m, 0);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *m
               ? 0
               : vp_fail(VP_EIO, "the helper process outside the sandbox has exited");
}

int outside_start(outside_kind kind)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return vp_fail(VP_EIO, "cannot create a socket pair: %s", strerror(errno));
    pid_t pid = fork();
    if (!pid) {
        close(ends[0]);
        serve_outside_process(kind, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return vp_fail(VP_EIO, "cannot start a process: %s", strerror(errno));
    }
    processes[kind].pid = pid;
    processes[kind].fd = ends[0];
    if (hear_outside_reply(kind, &(message){.code = 0}) == 0)
        return 0;
    int rc = vp_fail(VP_EIO, "the helper process outside the sandbox did not start");
    outside_end(kind);
    return rc;
}

void outside_end(outside_kind kind)
{
    if (!processes[kind].pid)
        return;
    vp_fs_close(&processes[kind].fd);
    while (waitpid(processes[kind].pid, NULL, 0) < 0 && errno == EINTR) {
    }
    processes[kind].pid = 0;
}

bool outside_runs(outside_kind kind)
{
    return processes[kind].pid != 0;
}

static int ask_outside_process(outside_kind kind, message *m)
{
    pthread_mutex_lock(&processes[kind].lock);
    /* If the process has exited, this fails, and hear_outside_reply() fails as well. */
    (void)send(processes[kind].fd, m, sizeof *m, MSG_NOSIGNAL);
    int rc = hear_outside_reply(kind, m);
    pthread_mutex_unlock(&processes[kind].lock);
    return rc;
}

int outside_open_browser(const browser_page *page)
{
    message m = {.what = OPEN_BROWSER, .page = *page};
    int rc = ask_outside_process(OUTSIDE_BROWSER, &m);
    outside_end(OUTSIDE_BROWSER);
    return rc < 0 ? rc : m.code ? vp_fail(m.code, "%.300s", m.text) : 0;
}

pid_t outside_pid(uint64_t socket_inode)
{
    message m = {.what = PID_OF_SOCKET, .number = socket_inode};
    return ask_outside_process(OUTSIDE_LOOKUP, &m) < 0 ? 0 : (pid_t)m.number;
}

int outside_directory(char *out, size_t cap, pid_t pid)
{
    message m = {.what = DIRECTORY_OF_PID, .number = (uint64_t)pid};
    VP_TRY(ask_outside_process(OUTSIDE_LOOKUP, &m));
    int n = snprintf(out, cap, "%s", m.text);
    if (n <= 0 || (size_t)n >= cap)
        return vp_fail(VP_ENOTFOUND, "cannot read the working directory of process %ld", (long)pid);
    return 0;
}
