/* `view_profile record -- COMMAND`: the command runs with an environment in which NVTX and ITT find
 * our recorder, and programs that are linked with it record themselves. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/cli/cli.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"
#include "trace/capture/environment.h"
#include "trace/capture/files.h"
#include "trace/report/report.h"

#define NVTX_LIBRARY "libview_profile_nvtx.so"
#define ITT_LIBRARY "libview_profile_itt.so"
#define RECORDER_LIBRARY "libview_profile_capture.so"
#define INSTRUMENT_LIBRARY "libview_profile_instrument.so"
#define CANNOT_START 127

/* ---- The libraries --------------------------------------------------------------------------- */

/* Beside this program, as it was built, or where it was installed. */
static int find_library(char *out, const char *name)
{
    char self[VP_PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    static const char *const places[] = {"", ("/../" VP_LIBDIR), "/../lib"};
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        char path[VP_PATH_MAX + 64];
        int length = snprintf(path, sizeof path, "%s%s/%s", self, places[i], name);
        if (length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0 &&
            realpath(path, out))
            return 0;
    }
    return vp_fail(VP_ENOTFOUND, "%s lies neither beside this program nor in its library directory",
                   name);
}

/* ---- The environment ------------------------------------------------------------------------- */

static void set(const char *name, const char *value)
{
    if (value)
        (void)setenv(name, value, 1);
    else
        (void)unsetenv(name);
}

/* The command may change its directory before it records. */
static int absolute(char *out, size_t cap, const char *dir)
{
    char here[VP_PATH_MAX] = "";
    if (dir[0] != '/' && !getcwd(here, sizeof here))
        return vp_fail(VP_EIO, "the working directory has no name");
    int n = snprintf(out, cap, "%s%s%s", here, here[0] ? "/" : "", dir);
    return n > 0 && (size_t)n < cap ? 0 : vp_fail(VP_EARG, "--dir: the path is too long");
}

/* CUPTI traces a program that knows nothing of us from within it, and what the compiler calls has
 * to be there before the C library. Only then is the recorder loaded into everything that runs;
 * annotations bring it along by themselves. */
static int preload(const char *name)
{
    char library[VP_PATH_MAX], both[2 * VP_PATH_MAX];
    const char *others = getenv("LD_PRELOAD");
    VP_TRY(find_library(library, name));
    snprintf(both, sizeof both, "%s%s%s", library, others && others[0] ? ":" : "",
             others ? others : "");
    set("LD_PRELOAD", both);
    return 0;
}

static int prepare(const cli_options *o, const char *dir)
{
    char library[VP_PATH_MAX];
    environment e;
    set("VIEW_PROFILE", "1");
    set("VIEW_PROFILE_DIR", dir);
    set("VIEW_PROFILE_STEPS", o->steps);
    set("VIEW_PROFILE_RING", o->ring);
    set("VIEW_PROFILE_GPU", o->gpu ? "require" : NULL);
    VP_TRY(environment_read(&e, NULL));
    VP_TRY(find_library(library, NVTX_LIBRARY));
    set("NVTX_INJECTION64_PATH", library);
    VP_TRY(find_library(library, ITT_LIBRARY));
    set("INTEL_LIBITTNOTIFY64", library);
    if (o->functions) /* brings the recorder along */
        return preload(INSTRUMENT_LIBRARY);
    return o->gpu ? preload(RECORDER_LIBRARY) : 0;
}

/* ---- The command ----------------------------------------------------------------------------- */

static volatile sig_atomic_t child_pid;

static void pass_on(int number)
{
    if (child_pid > 0)
        (void)kill((pid_t)child_pid, number);
}

/* What the terminal sends goes to both; the command decides what to do about it. */
static void keep_out_of_the_way(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, pass = {.sa_handler = pass_on};
    (void)sigaction(SIGINT, &ignore, NULL);
    (void)sigaction(SIGQUIT, &ignore, NULL);
    (void)sigaction(SIGTERM, &pass, NULL);
    (void)sigaction(SIGHUP, &pass, NULL);
}

/* Its exit code, 128 + the signal, or CANNOT_START. */
static int run(char **argv)
{
    int status;
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        (void)execvp(argv[0], argv);
        vp_log(VP_LOG_ERROR, "%s: %s", argv[0], strerror(errno));
        _exit(CANNOT_START);
    }
    if (pid < 0) {
        vp_log(VP_LOG_ERROR, "%s: %s", argv[0], strerror(errno));
        return CANNOT_START;
    }
    child_pid = (sig_atomic_t)pid;
    keep_out_of_the_way();
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return CANNOT_START;
    child_pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- What it left ---------------------------------------------------------------------------- */

/* The directory as it is; without one, there is nothing. */
static catalog *look(const char *dir)
{
    catalog *c = NULL;
    cat_options opts = CAT_OPTIONS_INIT;
    return catalog_open(&c, dir, &opts) < 0 ? NULL : c;
}

static uint64_t key_of(const cat_session *s)
{
    return vp_hash(s->path, strlen(s->path), (uint64_t)s->newest_mtime_ns);
}

/* The sessions of `after` that were not there before; the path of the only one, else dir. */
static size_t count_new(char *path, size_t cap, const char *dir, const catalog *before,
                        const catalog *after)
{
    VP_CLEANUP(vp_map_free) vp_map old;
    size_t n = 0;
    vp_map_init(&old);
    for (size_t i = 0; before && i < catalog_count(before); i++)
        (void)vp_map_set(&old, key_of(catalog_get(before, i)), 0);
    snprintf(path, cap, "%s", dir);
    for (size_t i = 0; after && i < catalog_count(after); i++) {
        const cat_session *s = catalog_get(after, i);
        if (vp_map_get(&old, key_of(s)) != VP_MAP_NONE)
            continue;
        n++;
        if (n == 1)
            snprintf(path, cap, "%s/%s", dir, s->path);
        else
            snprintf(path, cap, "%s", dir);
    }
    return n;
}

static int write_to_stderr(void *ctx, const void *data, size_t n)
{
    (void)ctx;
    return fwrite(data, 1, n, stderr) == n ? 0 : VP_EIO;
}

/* Standard output is the command's. */
static void show(const cli_options *o, const catalog *c)
{
    vp_buf b;
    vp_view view;
    cli_view(&view, o, 0);
    vp_buf_init_stream(&b, write_to_stderr, NULL);
    (void)rep_list_text(&b, c, &view);
    (void)vp_buf_flush(&b);
    vp_buf_free(&b);
}

static size_t existing_part(const char *dir)
{
    char part[VP_PATH_MAX];
    snprintf(part, sizeof part, "%s", dir);
    size_t n = strlen(part);
    while (n > 1 && access(part, F_OK) < 0) {
        n = vp_str_rfind_char((vp_str){part, n}, '/');
        n = n ? n : 1;
        part[n] = 0;
    }
    return n;
}

/* Whether a recorder could have made its runs there; nothing is left of the trial. */
static int try_directory(const char *dir)
{
    char part[VP_PATH_MAX];
    size_t kept = existing_part(dir);
    int rc = cap_make_dirs(dir);
    if (rc >= 0 && access(dir, W_OK | X_OK) < 0)
        rc = cap_file_fail("write into the directory", dir, errno);
    snprintf(part, sizeof part, "%s", dir);
    for (size_t n = strlen(part); n > kept; n = vp_str_rfind_char((vp_str){part, n}, '/')) {
        part[n] = 0;
        (void)rmdir(part);
    }
    return rc;
}

static void say_nothing(const cli_options *o, const char *dir)
{
    char why[VP_PATH_MAX + 512];
    if (try_directory(dir) < 0)
        vp_log(VP_LOG_ERROR, "nothing was recorded: %s",
               vp_error_line(vp_error_last(), why, sizeof why));
    else
        vp_log(
            VP_LOG_ERROR,
            "nothing was recorded: %s has no NVTX ranges%s and is not linked with the recorder%s",
            o->operands[0], o->steps ? " that are such steps" : "",
            o->gpu ? "" : "; --gpu records what CUDA does");
}

static int tell(const cli_options *o, const char *dir, const catalog *before, int code)
{
    char path[2 * VP_PATH_MAX];
    VP_CLEANUP(cli_catalog_free) catalog *after = look(dir);
    size_t n = count_new(path, sizeof path, dir, before, after);
    if (!n && code != CANNOT_START)
        say_nothing(o, dir);
    if (!n)
        return code ? code : CLI_CAPTURE;
    vp_log(VP_LOG_INFO, "recorded %zu run%s: %s", n, n == 1 ? "" : "s", path);
    if (!o->quiet) {
        VP_CLEANUP(cli_catalog_free) catalog *c = look(path);
        show(o, c ? c : after);
    }
    return code;
}

int cli_run_record(const cli_options *o)
{
    char dir[VP_PATH_MAX];
    int rc = absolute(dir, sizeof dir, o->dir);
    if (rc >= 0)
        rc = prepare(o, dir);
    if (rc < 0) {
        vp_log(VP_LOG_ERROR, "%s", vp_error_last()->message);
        return rc == VP_EARG ? CLI_USAGE : CLI_CAPTURE;
    }
    VP_CLEANUP(cli_catalog_free) catalog *before = look(dir);
    o->operands[o->operand_count] = NULL; /* argv has a place behind its last */
    return tell(o, dir, before, run(o->operands));
}
