#include "server/local/tb_program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/str.h"

/* XProf has no option for its address: it listens on all interfaces, and starts a worker for other
 * machines that does the same on another port (docs/reference/xprof.md#tensorboard). This script
 * starts XProf's server on loopback without that worker, as TensorBoard does with its plugin. If a
 * future XProf is structured differently, the script fails instead of opening a port to the
 * network. */
static const char loopback_xprof[] =
    "import sys\n"
    "from xprof import server\n"
    "for name in ('_get_wildcard_address', '_pywrap_profiler_plugin', 'main'):\n"
    "    getattr(server, name)\n"
    "class NoWorker:\n"
    "    initialize_stubs = start_grpc_server = staticmethod(lambda *ignored: None)\n"
    "server._get_wildcard_address = lambda port: '127.0.0.1'\n"
    "server._pywrap_profiler_plugin = NoWorker\n"
    "sys.argv[0] = 'xprof'\n"
    "sys.exit(server.main())\n";

int tb_program_find(tb_program *out)
{
    const char *named = getenv("VIEW_PROFILE_TENSORBOARD");
    if (named && *named) {
        VP_TRY(child_find(out->path, named));
        out->kind = strcmp(vp_path_name(out->path), "xprof") == 0 ? TB_XPROF : TB_PROGRAM;
        return 0;
    }
    static const struct {
        const char *name;
        tb_kind kind;
    } usual[] = {{"tensorboard", TB_PROGRAM}, {"xprof", TB_XPROF}, {"python3", TB_MODULE}};
    int rc = VP_ENOTFOUND;
    for (size_t i = 0; i < sizeof usual / sizeof *usual && rc < 0; i++) {
        out->kind = usual[i].kind;
        rc = child_find(out->path, usual[i].name);
    }
    return rc;
}

/* The Python of a script is in the directory of the script, or in that of the target of a link to
 * it. */
static int python_of(char *out, const char *script)
{
    char real[PATH_MAX], beside[PATH_MAX + 16];
    if (realpath(script, real)) {
        char *slash = strrchr(real, '/');
        snprintf(beside, sizeof beside, "%.*s/python3", (int)(slash - real), real);
        if (child_find(out, beside) == 0)
            return 0;
    }
    return child_find(out, "python3");
}

int tb_program_start(child **out, const tb_program *p, const char *logdir, int port)
{
    char text[16], python[VP_PATH_MAX];
    const char *argv[16];
    size_t n = 0;
    snprintf(text, sizeof text, "%d", port);
    if (p->kind == TB_XPROF) {
        VP_TRY(python_of(python, p->path));
        argv[n++] = python;
        argv[n++] = "-c";
        argv[n++] = loopback_xprof;
    } else {
        argv[n++] = p->path;
    }
    if (p->kind == TB_MODULE) {
        argv[n++] = "-m";
        argv[n++] = "tensorboard.main";
    }
    argv[n++] = "--logdir";
    argv[n++] = logdir;
    if (p->kind != TB_XPROF) {
        argv[n++] = "--host";
        argv[n++] = "127.0.0.1";
    }
    argv[n++] = "--port";
    argv[n++] = text;
    argv[n] = NULL;
    return child_start(out, argv);
}
