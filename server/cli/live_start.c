/* `serve`, `capture`, `record`, `recover`, `watch`, `mcp`, `compare`, `merge`, `memory` and `trend`
 * as view_profile has them: it becomes view_profile-live (live_main.c), which is these commands,
 * with the words that were typed, and so it does for `help --print-…`. Most runs only print what
 * one profile says, and start with as little as that needs. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/system/own_program.h"

#define WORDS_MAX (4u << 20)

/* What was typed: parsing has moved the operands in main()'s own array. */
static int read_words(vp_buf *b)
{
    VP_CLEANUP(vp_fs_close) int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return vp_fail(VP_EIO, "/proc/self/cmdline cannot be read: %s", strerror(errno));
    for (;;) {
        size_t got;
        char *p = vp_buf_reserve(b, 4096);
        VP_NEED(p);
        VP_TRY(vp_fs_pread(fd, p, 4096, (int64_t)b->n, &got));
        b->n += got;
        if (!got)
            return b->n && !b->p[b->n - 1] ? 0 : vp_fail(VP_EIO, "/proc/self/cmdline is cut off");
    }
}

/* Returns only where it failed. */
static int become(const char *live, vp_buf *words)
{
    char self[VP_PATH_MAX];
    VP_CLEANUP(vp_free_ptr) char **argv = NULL;
    size_t n = 0, cap = 0;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    for (size_t at = 0; at < words->n; at += strlen(words->p + at) + 1) {
        VP_TRY(vp_grow(&argv, &cap, n + 2, sizeof *argv, WORDS_MAX));
        argv[n++] = words->p + at;
    }
    argv[0] = self;
    argv[n] = NULL;
    execv(live, argv);
    vp_fail(VP_EIO, "cannot be started: %s", strerror(errno));
    return vp_fail_at(VP_EIO, live, -1, -1);
}

static int run_live(int failed)
{
    char live[VP_PATH_MAX];
    VP_CLEANUP(vp_buf_free) vp_buf words;
    vp_buf_init(&words, WORDS_MAX);
    int rc = vp_own_program(live, CLI_LIVE_PROGRAM);
    if (rc >= 0)
        rc = read_words(&words);
    if (rc >= 0)
        rc = become(live, &words);
    (void)cli_fail(rc);
    return failed;
}

#define LIVE(name, failed)                                                                         \
    int cli_run_##name(const cli_options *o)                                                       \
    {                                                                                              \
        (void)o;                                                                                   \
        return run_live(failed);                                                                   \
    }
LIVE(serve, CLI_CANNOT_SERVE)
LIVE(capture, CLI_CAPTURE_FAILED)
LIVE(record, CLI_CAPTURE_FAILED)
LIVE(recover, CLI_CAPTURE_FAILED)
LIVE(watch, CLI_CAPTURE_FAILED)
LIVE(mcp, CLI_CAPTURE_FAILED)
LIVE(compare, CLI_UNREADABLE)
LIVE(merge, CLI_UNREADABLE)
LIVE(memory, CLI_UNREADABLE)
LIVE(trend, CLI_UNREADABLE)
LIVE(docs, CLI_UNREADABLE)
