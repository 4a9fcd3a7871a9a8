/* `view_profile record -- COMMAND`: runs the command with an environment in which NVTX and ITT load
 * the recorder, linked programs record themselves, and Python enables the profiler of JAX or
 * PyTorch (python/hook/sitecustomize.py). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/cli/gates/show_slowest.h"
#include "server/cli/input/open.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/recording/find_recorder.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/map.h"
#include "trace/base/str.h"
#include "trace/base/time.h"
#include "trace/capture/control/environment.h"
#include "trace/capture/disk/small_files.h"
#include "trace/capture/session/job.h"
#include "trace/report/report.h"

#define NVTX_LIBRARY "libview_profile_nvtx.so"
#define ITT_LIBRARY "libview_profile_itt.so"
#define INSTRUMENT_LIBRARY "libview_profile_instrument.so"
#define PYTHON_HOOK "view_profile-python/sitecustomize.py"
#define CANNOT_START 127
#define SLOWEST 10 /* rows of the final table, which also goes to stderr */

/* ---- The environment ------------------------------------------------------------------------- */

static void set_environment(const char *name, const char *value)
{
    if (value)
        (void)setenv(name, value, 1);
    else
        (void)unsetenv(name);
}

/* Makes the path absolute, because the command may change its directory before it records. */
static int make_path_absolute(char *out, size_t cap, const char *dir)
{
    char here[VP_PATH_MAX] = "";
    if (dir[0] != '/' && !getcwd(here, sizeof here))
        return vp_fail(VP_EIO, "cannot determine the working directory");
    int n = snprintf(out, cap, "%s%s%s", here, here[0] ? "/" : "", dir);
    return n > 0 && (size_t)n < cap ? 0 : vp_fail(VP_EARG, "--dir: the path is too long");
}

/* Preloads a library into all started programs. This is needed for CUPTI, which traces a program
 * from inside the process, and for the functions that code built with -finstrument-functions calls,
 * which must be loaded before the C library. Annotation libraries load the recorder themselves. */
static int preload_library(const char *name)
{
    char library[VP_PATH_MAX], both[2 * VP_PATH_MAX];
    const char *others = getenv("LD_PRELOAD");
    VP_TRY(cli_find_library(library, name));
    snprintf(both, sizeof both, "%s%s%s", library, others && others[0] ? ":" : "",
             others ? others : "");
    set_environment("LD_PRELOAD", both);
    return 0;
}

/* Python imports sitecustomize before any program. If the hook is not found, other recording still
 * works. */
static void set_python_path(void)
{
    char hook[VP_PATH_MAX], both[2 * VP_PATH_MAX];
    const char *others = getenv("PYTHONPATH");
    if (cli_find_library(hook, PYTHON_HOOK) < 0)
        return;
    *strrchr(hook, '/') = 0;
    snprintf(both, sizeof both, "%s%s%s", hook, others && others[0] ? ":" : "",
             others ? others : "");
    set_environment("PYTHONPATH", both);
}

/* All processes of the command form one run. Under a launcher, the job id is that of the launcher,
 * so that all of its processes form one run. */
static void set_job(void)
{
    char id[64];
    cap_job job;
    job_read(&job, NULL);
    (void)snprintf(id, sizeof id, "record-%ld-%lld", (long)getpid(), (long long)vp_now_ms());
    set_environment("VIEW_PROFILE_JOB", job.id[0] ? job.id : id);
}

static int prepare_environment(const cli_options *o, const char *dir)
{
    char library[VP_PATH_MAX];
    environment e;
    set_environment("VIEW_PROFILE", "1");
    set_environment("VIEW_PROFILE_DIR", dir);
    set_environment("VIEW_PROFILE_STEPS", o->steps);
    set_environment("VIEW_PROFILE_RING", o->ring);
    set_environment("VIEW_PROFILE_GPU", o->gpu ? "require" : NULL);
    if (!getenv("VIEW_PROFILE_JOB"))
        set_job();
    VP_TRY(environment_read(&e, NULL));
    VP_TRY(cli_find_library(library, NVTX_LIBRARY));
    set_environment("NVTX_INJECTION64_PATH", library);
    VP_TRY(cli_find_library(library, CLI_RECORDER));
    set_environment("VIEW_PROFILE_LIBRARY", library);
    VP_TRY(cli_find_library(library, ITT_LIBRARY));
    set_environment("INTEL_LIBITTNOTIFY64", library);
    set_python_path();
    if (o->functions) /* brings the recorder along */
        return preload_library(INSTRUMENT_LIBRARY);
    return o->gpu ? preload_library(CLI_RECORDER) : 0;
}

/* ---- The command ----------------------------------------------------------------------------- */

static volatile sig_atomic_t child_pid;

static void pass_signal_to_child(int number)
{
    if (child_pid > 0)
        (void)kill((pid_t)child_pid, number);
}

/* The terminal also sends SIGINT and SIGQUIT to the command, which handles them; they are ignored
 * here. SIGTERM and SIGHUP are forwarded. */
static void keep_out_of_the_way(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, pass = {.sa_handler = pass_signal_to_child};
    (void)sigaction(SIGINT, &ignore, NULL);
    (void)sigaction(SIGQUIT, &ignore, NULL);
    (void)sigaction(SIGTERM, &pass, NULL);
    (void)sigaction(SIGHUP, &pass, NULL);
}

/* Its exit code, 128 + the signal, or CANNOT_START. */
static int run_recorded_command(char **argv)
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

/* The catalog of the directory; NULL if it cannot be read. */
static catalog *open_run_catalog(const char *dir)
{
    catalog *c = NULL;
    cat_options opts = CAT_OPTIONS_INIT;
    return catalog_open(&c, dir, &opts) < 0 ? NULL : c;
}

static uint64_t session_time_key(const cat_session *s)
{
    return vp_hash(s->path, strlen(s->path), (uint64_t)s->newest_mtime_ns);
}

static void note_all(vp_map *out, const catalog *c)
{
    vp_map_init(out);
    for (size_t i = 0; c && i < catalog_count(c); i++)
        (void)vp_map_set(out, session_time_key(catalog_get(c, i)), 0);
}

static bool is_new_session(const vp_map *old, const cat_session *s)
{
    return vp_map_get(old, session_time_key(s)) == VP_MAP_NONE;
}

/* Recovers the profiles of killed processes in new runs. */
static void recover_killed_processes(const char *dir, const catalog *before)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = open_run_catalog(dir);
    VP_CLEANUP(vp_map_free) vp_map old;
    note_all(&old, before);
    for (size_t i = 0; c && i < catalog_count(c); i++) {
        const cat_session *s = catalog_get(c, i);
        for (size_t k = 0; k < s->file_count && is_new_session(&old, s); k++) {
            char path[2 * VP_PATH_MAX];
            vp_result r = VP_RESULT_INIT;
            if (s->files[k].kind.format != RD_VPCAP || s->files[k].is_member)
                continue;
            snprintf(path, sizeof path, "%s/%s", dir, s->files[k].path);
            int rc = cli_recover(&r, path, NULL);
            if (rc == VP_EEMPTY) /* a process that only forked and executed another program */
                (void)unlink(path);
            else if (rc < 0 && rc != VP_EREFUSED && rc != VP_EBUSY)
                vp_log(VP_LOG_WARN, "%s: %s", path, vp_error_last()->message);
            else if (rc == 0)
                vp_log(VP_LOG_INFO, "a process was killed; its %llu event%s saved to %s",
                       (unsigned long long)r.zones, r.zones == 1 ? " is" : "s are",
                       vp_path_name(path));
        }
    }
}

/* Number of runs in `after` that are not in `before`; path is set to the only one, else to dir. */
static size_t count_new(char *path, size_t cap, const char *dir, const catalog *before,
                        const catalog *after)
{
    VP_CLEANUP(vp_map_free) vp_map old;
    size_t n = 0;
    note_all(&old, before);
    snprintf(path, cap, "%s", dir);
    for (size_t i = 0; after && i < catalog_count(after); i++) {
        const cat_session *s = catalog_get(after, i);
        if (!is_new_session(&old, s))
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

/* Lists the new runs on stderr: stdout belongs to the command. */
static void show_new_runs(const cli_options *o, const catalog *c)
{
    vp_buf b;
    vp_view view;
    cli_view(&view, o, 0);
    vp_buf_init_stream(&b, write_to_stderr, NULL);
    (void)rep_list_text(&b, c, &view);
    (void)vp_buf_flush(&b);
    vp_buf_free(&b);
}

static size_t existing_dir_length(const char *dir)
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

/* Checks that a recorder could create runs in the directory; removes created directories. */
static int try_directory(const char *dir)
{
    char part[VP_PATH_MAX];
    size_t kept = existing_dir_length(dir);
    int rc = cap_make_dirs(dir);
    if (rc >= 0 && access(dir, W_OK | X_OK) < 0)
        rc = cap_file_fail("write to the directory", dir, errno);
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
        vp_log(VP_LOG_ERROR,
               "nothing was recorded: %s has no NVTX ranges%s and is not linked to the recorder%s",
               o->operands[0], o->steps ? " that match --steps" : "",
               o->gpu ? "" : "; use --gpu to record CUDA");
}

static int tell_recorded_runs(const cli_options *o, const char *dir, const catalog *before,
                              int code)
{
    char path[2 * VP_PATH_MAX];
    VP_CLEANUP(cli_catalog_free) catalog *after = open_run_catalog(dir);
    size_t n = count_new(path, sizeof path, dir, before, after);
    if (!n && code != CANNOT_START)
        say_nothing(o, dir);
    if (!n)
        return code ? code : CLI_CAPTURE_FAILED;
    vp_log(VP_LOG_INFO, "recorded %zu run%s: %s", n, n == 1 ? "" : "s", path);
    if (!o->quiet) {
        VP_CLEANUP(cli_catalog_free) catalog *c = open_run_catalog(path);
        show_new_runs(o, c ? c : after);
        (void)unsetenv("VIEW_PROFILE"); /* do not record the programs started below */
        (void)cli_show_slowest(o->program, o, SLOWEST, true, path, STDERR_FILENO);
    }
    return code;
}

int cli_run_record(const cli_options *o)
{
    char dir[VP_PATH_MAX];
    int rc = make_path_absolute(dir, sizeof dir, o->dir);
    if (rc >= 0)
        rc = prepare_environment(o, dir);
    if (rc < 0) {
        vp_log(VP_LOG_ERROR, "%s", vp_error_last()->message);
        return rc == VP_EARG ? CLI_USAGE : CLI_CAPTURE_FAILED;
    }
    VP_CLEANUP(cli_catalog_free) catalog *before = open_run_catalog(dir);
    o->operands[o->operand_count] = NULL; /* argv has room for the NULL after its last element */
    int code = run_recorded_command(o->operands);
    recover_killed_processes(dir, before);
    return tell_recorded_runs(o, dir, before, code);
}
