#include "server/cli/serve/serve_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "server/cli/language/exit_codes.h"

/* The terminal from which the server was started; -1: none. It reports a hangup when it is closed.
 */
static int terminal = -1;

static void fill_handled_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

void serve_block_signals(void)
{
    sigset_t set;
    fill_handled_signals(&set);
    /* Blocked before the threads of the server start, so that only serve_wait_signal receives them.
     */
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
}

/* SIGHUP requests a rescan, as in other daemons, unless it was sent because the terminal was
 * closed. */
static serve_event on_hangup(void)
{
    struct pollfd p = {.fd = terminal};
    return terminal >= 0 && poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)) ? SERVE_STOP
                                                                                    : SERVE_RESCAN;
}

serve_event serve_wait_signal(int wait_ms)
{
    sigset_t set;
    struct timespec t = {wait_ms / 1000, wait_ms % 1000 * 1000000L};
    int which;
    fill_handled_signals(&set);
    do
        which = wait_ms < 0 ? sigwaitinfo(&set, NULL) : sigtimedwait(&set, NULL, &t);
    while (which < 0 && errno == EINTR);
    return which < 0 ? SERVE_NOTHING : which == SIGHUP ? on_hangup() : SERVE_STOP;
}

/* In s: the process exits after this time even if something blocks, such as a file on a dead
 * network mount. */
#define END_S 9u

static void end_at_once(int which)
{
    _exit(which == SIGALRM ? CLI_OK : CLI_INTERRUPTED);
}

void serve_arm_second_signal(void)
{
    struct sigaction now = {.sa_handler = end_at_once};
    sigset_t set;
    sigemptyset(&now.sa_mask);
    sigaction(SIGINT, &now, NULL);
    sigaction(SIGTERM, &now, NULL);
    /* The next start removes temporary files that are left in this case. */
    sigaction(SIGALRM, &now, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    (void)alarm(END_S);
}
