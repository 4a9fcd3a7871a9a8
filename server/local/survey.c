#include "server/local/survey.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/local/browser.h"
#include "server/local/child.h"
#include "server/local/loopback_http.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/human.h"
#include "trace/base/limits.h"
#include "trace/base/system/sandbox.h"

#define OWN_PORT 9001
#define TENSORBOARD_PORT 6006
#define ASK_MS 2000
/* In bytes; with less, large archives and conversions do not fit. */
#define TEMP_MIN (INT64_C(1) << 30)

void survey_say(survey_line *out, survey_state state, const char *advice, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out->detail, sizeof out->detail, fmt, ap);
    va_end(ap);
    snprintf(out->advice, sizeof out->advice, "%s", advice);
    out->state = state;
}

/* ---- Files and programs --------------------------------------------------------------------- */

void survey_temp(survey_line *out)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    const char *named = getenv("TMPDIR");
    const char *dir = named && named[0] ? named : "/tmp";
    struct statvfs v;
    if (vp_fs_temp(&fd) < 0) {
        survey_say(out, SURVEY_FAILED, "set TMPDIR to a writable directory",
                   "%s: cannot create a file", dir);
        return;
    }
    if (fstatvfs(fd, &v) < 0)
        return survey_say(out, SURVEY_OK, "", "%s", dir);
    char text[VP_HUMAN_BYTES];
    int64_t room = (int64_t)v.f_bavail * (int64_t)v.f_frsize;
    bool enough = room >= TEMP_MIN;
    survey_say(
        out, enough ? SURVEY_OK : SURVEY_OPTIONAL,
        enough
            ? ""
            : "set TMPDIR to a file system with more free space; archives and conversions need it",
        "%s, %s free", dir, vp_bytes_text(text, room));
}

static bool has_display(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && x[0]) || (wayland && wayland[0]);
}

void survey_browser(survey_line *out)
{
    const char *named = getenv("BROWSER");
    char path[VP_PATH_MAX];
    if (named && named[0])
        survey_say(out, SURVEY_OK, "", "$BROWSER is %.200s", named);
    else if (browser_is_remote())
        survey_say(out, SURVEY_OPTIONAL,
                   "on your own machine, run the ssh command that serve prints",
                   "not opened in an SSH session");
    else if (child_find(path, "xdg-open") < 0)
        survey_say(out, SURVEY_OPTIONAL,
                   "set BROWSER to a program, install xdg-utils, or open the URL yourself",
                   "xdg-open not found");
    else if (!has_display())
        survey_say(out, SURVEY_OPTIONAL, "open the URL yourself", "no display");
    else
        survey_say(out, SURVEY_OK, "", "%.300s", path);
}

void survey_aside(char *path, size_t cap, survey_find_fn *find)
{
    int ends[2];
    ssize_t got = -1;
    path[0] = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    pid_t pid = fork();
    if (!pid) {
        find(path, cap);
        _exit(write(ends[1], path, strnlen(path, cap)) < 0);
    }
    close(ends[1]);
    if (pid > 0) {
        got = read(ends[0], path, cap - 1);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    path[got > 0 ? got : 0] = 0;
}

/* ---- Ports ---------------------------------------------------------------------------------- */

/* GETs a path; true for status 200, with the first line of the body. */
static bool port_answers(int port, const char *path, char *line, size_t cap)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_str first, in;
    int status = 0;
    vp_buf_init(&b, 64u << 10);
    if (lb_get(&b, &status, port, path, ASK_MS) < 0 || status != 200)
        return false;
    in = vp_buf_view(&b);
    vp_take_until(&in, '\n', SIZE_MAX, &first);
    first = vp_str_head(first, cap - 1);
    memcpy(line, first.p ? first.p : "", first.n);
    line[first.n] = 0;
    return true;
}

void survey_own_port(survey_line *out)
{
    char line[64];
    bool ours = !lb_port_is_free(OWN_PORT);
    if (!ours)
        return survey_say(out, SURVEY_OK, "", "%d is free", OWN_PORT);
    ours = port_answers(OWN_PORT, "/healthz", line, sizeof line) && !strcmp(line, "ok");
    survey_say(out, SURVEY_OPTIONAL,
               "serve uses the next free port; only direct links to Perfetto need port 9001",
               "%d is in use by %s", OWN_PORT, ours ? "another view_profile" : "another program");
}

void survey_tensorboard_port(survey_line *out)
{
    char version[64];
    if (lb_port_is_free(TENSORBOARD_PORT))
        survey_say(out, SURVEY_OK, "", "%d is free", TENSORBOARD_PORT);
    else if (port_answers(TENSORBOARD_PORT, "/data/plugin/profile/version", version,
                          sizeof version))
        survey_say(out, SURVEY_OK, "", "%d: TensorBoard with profile plugin %s", TENSORBOARD_PORT,
                   version);
    else
        survey_say(
            out, SURVEY_OPTIONAL,
            "TensorBoard is started on the next free port; choose one with --tensorboard-port",
            "%d is in use by a program without the profile plugin", TENSORBOARD_PORT);
}

/* ---- The kernel ----------------------------------------------------------------------------- */

void survey_openat2(survey_line *out)
{
    struct { /* struct open_how */
        uint64_t flags, mode, resolve;
    } how = {.flags = O_PATH | O_CLOEXEC, .resolve = 0x08 /* RESOLVE_BENEATH */};
    VP_CLEANUP(vp_fs_close)
    int fd = (int)syscall(437 /* openat2 */, AT_FDCWD, ".", &how, sizeof how);
    if (fd >= 0)
        survey_say(out, SURVEY_OK, "", "openat2: links inside the profile directory are followed");
    else
        survey_say(out, SURVEY_OPTIONAL,
                   "no action needed: symbolic links inside the profile directory are not "
                   "followed; requires Linux 5.6",
                   "openat2 not available (%s)", strerror(errno));
}

void survey_landlock(survey_line *out)
{
    int abi = sandbox_abi();
    if (abi)
        survey_say(out, SURVEY_OK, "", "Landlock ABI %d: serve drops its write permissions", abi);
    else
        survey_say(out, SURVEY_OPTIONAL,
                   "no action needed: serve runs with the permissions of its user; requires Linux "
                   "5.13 and landlock in \"lsm=\" of the kernel command line",
                   "Landlock not available");
}

static void watches_of_user(char *out, size_t cap)
{
    VP_CLEANUP(vp_fs_close)
    int fd = open("/proc/sys/fs/inotify/max_user_watches", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, cap - 1);
    out[n > 0 ? n : 0] = 0;
    out[strcspn(out, "\n")] = 0;
}

void survey_inotify(survey_line *out)
{
    VP_CLEANUP(vp_fs_close) int fd = inotify_init1(IN_CLOEXEC);
    char limit[32];
    if (fd < 0)
        return survey_say(out, SURVEY_OPTIONAL,
                          "no action needed: the directory is scanned when a page is loaded; or "
                          "raise fs.inotify.max_user_instances",
                          "inotify not available (%s)", strerror(errno));
    watches_of_user(limit, sizeof limit);
    survey_say(out, SURVEY_OK, "", "inotify, %s directories per user", limit[0] ? limit : "some");
}
