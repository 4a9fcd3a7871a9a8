#include "server/local/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"
#include "trace/base/system/live_dir.h"
#include "trace/base/time.h"

/* Total time for one process, in ms; processes answer within this time even while they write a
 * recording. */
#define ASK_MS 700
#define ANSWER_MAX (16u << 10)

static const char *const states[] = {"idle", "armed", "recording", "writing"};

const char *live_state_name(live_state s)
{
    return states[s];
}

void live_put_json(vp_json *j, const live_process *p)
{
    vp_json_ki64(j, "pid", p->pid);
    vp_json_kcstr(j, "program", p->program);
    vp_json_kcstr(j, "state", live_state_name(p->state));
    vp_json_ki64(j, "steps", p->steps);
    vp_json_ki64(j, "captures", p->captures);
}

/* ---- An answer ------------------------------------------------------------------------------ */

static int64_t live_count_of(const json_t *root, const char *key)
{
    json_int_t v = json_integer_value(json_object_get(root, key));
    return v > 0 ? v : 0;
}

static void live_text(char *out, size_t cap, const json_t *root, const char *key)
{
    const char *text = json_string_value(json_object_get(root, key));
    snprintf(out, cap, "%s", text ? text : "");
}

static int fail_refused_capture(const json_t *root)
{
    const char *why = json_string_value(json_object_get(root, "error"));
    const char *code = json_string_value(json_object_get(root, "code"));
    bool busy = code && !strcmp(code, vp_status_name(VP_EBUSY));
    return vp_fail(busy ? VP_EBUSY : VP_EREMOTE, "%.250s", why ? why : "no reason given");
}

static int take_live_process(live_process *out, const json_t *root)
{
    live_process p = {.pid = 0};
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const char *state = json_string_value(json_object_get(root, "state"));
    if (!schema || strcmp(schema, "view_profile.control/1") != 0 || !state)
        return vp_fail(VP_ECORRUPT, "unexpected answer; the process is not a recorder");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (!strcmp(state, states[i]))
            p.state = (live_state)i;
    p.pid = (pid_t)live_count_of(root, "pid");
    p.steps = live_count_of(root, "steps");
    p.captures = live_count_of(root, "captures");
    p.zones = live_count_of(root, "zones");
    live_text(p.program, sizeof p.program, root, "program");
    live_text(p.last_run, sizeof p.last_run, root, "last_run");
    live_text(p.error, sizeof p.error, root, "last_error");
    *out = p;
    return json_is_true(json_object_get(root, "ok")) ? 0 : fail_refused_capture(root);
}

int live_parse(live_process *out, const char *line, size_t n)
{
    json_t *root = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
    int rc = take_live_process(out, root);
    json_decref(root);
    return rc;
}

/* ---- A question ----------------------------------------------------------------------------- */

static bool wait_until_ready(int fd, short events, int64_t until)
{
    struct pollfd p = {.fd = fd, .events = events};
    int64_t left = until - vp_now_ms();
    return left > 0 && poll(&p, 1, (int)left) > 0;
}

static int connect_to_process(int *out, const char *dir, pid_t pid, int64_t until)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int n = snprintf(a.sun_path, sizeof a.sun_path, "%.100s/%ld.sock", dir, (long)pid);
    VP_CLEANUP(vp_fs_close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || n < 0 || (size_t)n >= sizeof a.sun_path)
        return vp_fail(VP_EIO, "cannot create a socket");
    int rc = connect(fd, (struct sockaddr *)&a, sizeof a);
    if (rc < 0 && errno == EAGAIN && wait_until_ready(fd, POLLOUT, until))
        rc = connect(fd, (struct sockaddr *)&a, sizeof a);
    if (rc < 0 || vp_live_peer(fd) != pid)
        return vp_fail(VP_ENOTFOUND, "process %ld not found or not recording", (long)pid);
    *out = vp_fs_take(&fd);
    return 0;
}

/* *n: length of the answer without its newline. */
static int ask_process(char *answer, size_t *n, const char *dir, pid_t pid, const char *line)
{
    int64_t until = vp_now_ms() + ASK_MS;
    VP_CLEANUP(vp_fs_close) int fd = -1;
    VP_TRY(connect_to_process(&fd, dir, pid, until));
    if (send(fd, line, strlen(line), MSG_NOSIGNAL) != (ssize_t)strlen(line))
        return vp_fail(VP_EREMOTE, "cannot send to process %ld", (long)pid);
    for (*n = 0; *n < ANSWER_MAX && wait_until_ready(fd, POLLIN, until);) {
        ssize_t got = recv(fd, answer + *n, ANSWER_MAX - *n, 0);
        if (got <= 0)
            break;
        const char *newline = memchr(answer + *n, '\n', (size_t)got);
        *n += (size_t)got;
        if (newline) {
            *n = (size_t)(newline - answer);
            return 0;
        }
    }
    return vp_fail(VP_EREMOTE, "process %ld does not answer", (long)pid);
}

static int ask_and_parse(live_process *out, const char *dir, pid_t pid, const char *line)
{
    char answer[ANSWER_MAX];
    size_t n = 0;
    VP_TRY(ask_process(answer, &n, dir, pid, line));
    int rc = live_parse(out, answer, n);
    out->pid = pid; /* the pid of the socket's peer, not the one in the answer */
    return rc;
}

/* ---- All of them ---------------------------------------------------------------------------- */

/* "123.sock" → 123; 0 for other names. */
static pid_t pid_of_socket_name(const char *name)
{
    vp_str s = vp_str_of(name);
    uint64_t pid;
    return vp_take_uint(&s, 1 << 22, &pid) && vp_str_eq(s, VP_STR(".sock")) ? (pid_t)pid : 0;
}

static int by_pid(const void *l, const void *r)
{
    pid_t a = ((const live_process *)l)->pid, b = ((const live_process *)r)->pid;
    return (a > b) - (a < b);
}

static int add_live_process(live_process **list, size_t *n, size_t *cap, const char *dir, pid_t pid)
{
    live_process p;
    if (ask_and_parse(&p, dir, pid, "STATUS\n") < 0)
        return 0;
    VP_TRY(vp_grow(list, cap, *n + 1, sizeof **list, LIVE_MAX));
    (*list)[(*n)++] = p;
    return 0;
}

int live_list(live_process **out, size_t *n)
{
    char path[VP_PATH_MAX];
    VP_CLEANUP(vp_free_ptr) live_process *list = NULL;
    size_t count = 0, cap = 0;
    int rc = 0;
    *out = NULL;
    *n = 0;
    DIR *d = vp_live_dir(path, false) == 0 ? opendir(path) : NULL;
    for (const struct dirent *e; d && rc == 0 && count < LIVE_MAX && (e = readdir(d));)
        if (pid_of_socket_name(e->d_name))
            rc = add_live_process(&list, &count, &cap, path, pid_of_socket_name(e->d_name));
    if (d)
        closedir(d);
    VP_TRY(rc);
    if (count > 1)
        qsort(list, count, sizeof *list, by_pid);
    *out = list;
    *n = count;
    list = NULL;
    return 0;
}

int live_capture(live_process *out, pid_t pid, const live_request *r)
{
    char dir[VP_PATH_MAX], line[64];
    if (vp_live_dir(dir, false) < 0)
        return vp_fail(VP_ENOTFOUND, "process %ld not found or not recording", (long)pid);
    if (r->steps)
        snprintf(line, sizeof line, "CAPTURE steps=%llu\n", (unsigned long long)r->steps);
    else if (r->ms)
        snprintf(line, sizeof line, "CAPTURE ms=%llu\n", (unsigned long long)r->ms);
    else
        snprintf(line, sizeof line, "CAPTURE\n");
    return ask_and_parse(out, dir, pid, line);
}
