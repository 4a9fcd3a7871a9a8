#include "server/cli/serve/serve_sandbox.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/language/cli_options.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/system/live_dir.h"
#include "trace/base/system/sandbox.h"

#define PATHS_MAX 32u

typedef struct rights {
    sandbox_path paths[PATHS_MAX];
    size_t n;
} rights;

static void rights_allow_path(rights *r, const char *path, sandbox_right right)
{
    if (path && r->n < PATHS_MAX)
        r->paths[r->n++] = (sandbox_path){path, right};
}

/* "DIR/name" → "DIR"; "name" → "."; "/name" → "/". */
static void parent_directory_of(char *out, const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    size_t at = vp_str_rfind_char((vp_str){path, n}, '/');
    vp_str dir = at == n ? VP_STR(".") : at ? (vp_str){path, at} : VP_STR("/");
    dir = vp_str_head(dir, VP_PATH_MAX - 1);
    memcpy(out, dir.p, dir.n);
    out[dir.n] = 0;
}

/* Files that the C library reads, files about this process (/proc), and other files that are
 * written. */
static void allow_system(rights *r)
{
    static const char *const read[] = {"/usr",
                                       "/lib",
                                       "/lib64",
                                       "/etc/ld.so.cache",
                                       "/etc/localtime",
                                       "/proc",
                                       "/sys/devices/system/cpu",
                                       "/dev/urandom"};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        rights_allow_path(r, read[i], SANDBOX_READ);
    rights_allow_path(r, "/dev/null", SANDBOX_FILE);
    rights_allow_path(r, "/dev/tty", SANDBOX_FILE);
}

bool serve_may_start_tensorboard(const cli_options *o)
{
    return o->ui == CLI_UI_BOTH || o->ui == CLI_UI_TENSORBOARD;
}

/* Creates the log file now, because a permission needs an existing file. */
static int make_log(const char *path)
{
    if (!strcmp(path, "-"))
        return 0;
    VP_CLEANUP(vp_fs_close) int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        return 0;
    vp_fail(VP_EIO, "cannot write the access log");
    return vp_fail_at(VP_EIO, path, -1, -1);
}

int serve_sandbox(const cli_options *o, const site_options *opts)
{
    const char *dir = opts->profile_dir;
    rights r = {.n = 0};
    char parent[VP_PATH_MAX], socket_dir[VP_PATH_MAX], live[VP_PATH_MAX];
    const char *temp = getenv("TMPDIR");
    if (o->access_log)
        VP_TRY(make_log(o->access_log));
    if (o->no_sandbox)
        return 0;
    allow_system(&r);
    rights_allow_path(&r, opts->watched, SANDBOX_READ);
    if (opts->mirror)
        rights_allow_path(&r, mirror_cache(opts->mirror), SANDBOX_WRITE);
    else
        rights_allow_path(&r, dir, o->tensorboard_in_place ? SANDBOX_WRITE : SANDBOX_READ);
    rights_allow_path(&r, opts->perfetto_dir, SANDBOX_READ);
    parent_directory_of(parent, dir);
    if (!opts->mirror)
        rights_allow_path(&r, parent,
                          SANDBOX_LIST); /* a single file is opened through its directory */
    rights_allow_path(&r, temp && temp[0] ? temp : "/tmp", SANDBOX_WRITE);
    if (o->access_log)
        rights_allow_path(&r, o->access_log, SANDBOX_FILE);
    /* Programs that start later create their sockets in this directory, so it must exist now. */
    if (vp_live_dir(live, true) == 0)
        rights_allow_path(&r, live, SANDBOX_LIST);
    if (o->listen) {
        parent_directory_of(socket_dir, o->listen + strlen("unix:"));
        rights_allow_path(&r, socket_dir, SANDBOX_SOCKET);
    }
    if (serve_may_start_tensorboard(o))
        rights_allow_path(&r, "/dev/shm", SANDBOX_WRITE);
    int rc = sandbox_enter(r.paths, r.n, !serve_may_start_tensorboard(o));
    if (rc < 0)
        vp_log(rc == VP_EUNSUPPORTED ? VP_LOG_DEBUG : VP_LOG_WARN, "no sandbox: %s",
               vp_error_last()->message);
    return 0;
}
