#include "server/remote/outside.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/remote/browser.h"
#include "server/remote/tb_listener.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"

typedef enum question { OPEN_BROWSER, PID_OF_SOCKET, DIRECTORY_OF_PID } question;

/* One datagram each way. text: the URL; the failure's message or the directory. */
typedef struct message {
    question what;
    int code;
    uint64_t number;
    char text[VP_PATH_MAX];
} message;

static struct {
    pid_t pid; /* 0: none */
    int fd;
    pthread_mutex_t lock;
} process = {.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Over there ----------------------------------------------------------------------------- */

static void answer(message *m)
{
    char path[64];
    ssize_t n;
    m->text[sizeof m->text - 1] = 0;
    switch (m->what) {
    case OPEN_BROWSER:
        m->code = browser_open(m->text);
        snprintf(m->text, sizeof m->text, "%s", m->code ? vp_error_last()->message : "");
        return;
    case PID_OF_SOCKET:
        m->number = (uint64_t)tb_listener_pid(&(tb_listener){.inode = m->number});
        return;
    case DIRECTORY_OF_PID:
        snprintf(path, sizeof path, "/proc/%llu/cwd", (unsigned long long)m->number);
        n = readlink(path, m->text, sizeof m->text - 1);
        m->text[n > 0 ? n : 0] = 0;
        return;
    }
}

static void serve(int fd)
{
    message m = {.code = 0};
    /* Ctrl-C and the end of the terminal are for the server: we end when it did. */
    (void)setsid();
    /* Sockets that a service manager passed are not ours, and no browser's either. */
    if (fd > 3)
        (void)close_range(3, (unsigned)fd - 1, 0);
    (void)close_range((unsigned)fd + 1, ~0u, 0);
    (void)prctl(PR_SET_NAME, "vp-outside");
    if (send(fd, &m, sizeof m, MSG_NOSIGNAL) < 0) /* all of that is done */
        return;
    while (recv(fd, &m, sizeof m, 0) == (ssize_t)sizeof m) {
        answer(&m);
        if (send(fd, &m, sizeof m, MSG_NOSIGNAL) < 0)
            return;
    }
}

/* ---- Here ----------------------------------------------------------------------------------- */

static int hear(message *m)
{
    ssize_t n;
    do
        n = recv(process.fd, m, sizeof *m, 0);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *m ? 0 : vp_fail(VP_EIO, "our process outside the sandbox is gone");
}

int outside_start(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return vp_fail(VP_EIO, "cannot make a socket pair: %s", strerror(errno));
    pid_t pid = fork();
    if (!pid) {
        close(ends[0]);
        serve(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return vp_fail(VP_EIO, "cannot start a process: %s", strerror(errno));
    }
    process.pid = pid;
    process.fd = ends[0];
    if (hear(&(message){.code = 0}) == 0)
        return 0;
    int rc = vp_fail(VP_EIO, "our process outside the sandbox did not start");
    outside_end();
    return rc;
}

void outside_end(void)
{
    if (!process.pid)
        return;
    vp_fs_close(&process.fd);
    while (waitpid(process.pid, NULL, 0) < 0 && errno == EINTR) {
    }
    process.pid = 0;
}

bool outside_runs(void)
{
    return process.pid != 0;
}

static int ask(message *m)
{
    pthread_mutex_lock(&process.lock);
    (void)send(process.fd, m, sizeof *m, MSG_NOSIGNAL); /* one that is gone does not answer */
    int rc = hear(m);
    pthread_mutex_unlock(&process.lock);
    return rc;
}

int outside_open_browser(const char *url)
{
    message m = {.what = OPEN_BROWSER};
    int n = snprintf(m.text, sizeof m.text, "%s", url);
    if (n < 0 || (size_t)n >= sizeof m.text)
        return vp_fail(VP_ELIMIT, "the address is too long for a browser");
    VP_TRY(ask(&m));
    return m.code ? vp_fail(m.code, "%.300s", m.text) : 0;
}

pid_t outside_pid(uint64_t socket_inode)
{
    message m = {.what = PID_OF_SOCKET, .number = socket_inode};
    return ask(&m) < 0 ? 0 : (pid_t)m.number;
}

int outside_directory(char *out, size_t cap, pid_t pid)
{
    message m = {.what = DIRECTORY_OF_PID, .number = (uint64_t)pid};
    VP_TRY(ask(&m));
    int n = snprintf(out, cap, "%s", m.text);
    if (n <= 0 || (size_t)n >= cap)
        return vp_fail(VP_ENOTFOUND, "the directory of process %ld is not known", (long)pid);
    return 0;
}
